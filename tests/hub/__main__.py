"""The hub by hand: `./dev python -m tests.hub --folder FOLDER`; it prints what a client needs, and serves until ^C."""

import argparse
import threading
from pathlib import Path

from .messages import User
from .server import serving

TOKEN = "hf_loopback"  # of this hub alone


def main() -> None:
    """Serve a folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, required=True, help="where everything is kept")
    parser.add_argument("--port", type=int, default=0, help="default: a free one")
    parser.add_argument("--user", default="someone", help="the owner of the token (default: someone)")
    asked = parser.parse_args()
    with serving(asked.folder, {TOKEN: User(asked.user)}, asked.port) as hub:
        print(f"export HF_ENDPOINT={hub.endpoint} HF_TOKEN={TOKEN}", flush=True)
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            for unknown in hub.unknown:
                print(f"no route for {unknown}")


if __name__ == "__main__":
    main()
