"""`python -m tiebreak.cli`."""

import sys

from tiebreak.cli import main

sys.exit(main())
