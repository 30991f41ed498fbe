"""The rollout viewer: a page beside the report that loads conversations as they are looked at, from a disk as well."""

import base64
import hashlib
from pathlib import Path
from urllib.parse import urlencode

from markupsafe import Markup

from tiebreak.report.wording import environment, write

NAME = "viewer.html"
FOLDER = "rollouts"
SCRIPTS = Path(__file__).parent / "viewer"
ORDER = ("data", "text", "rows", "conversation", "pane", "main")


def write_page(out_dir: Path, study: str) -> Path:
    """Write viewer.html into `out_dir`; its data (`viewer_data`) lies in `rollouts/` beside it.

    The page's policy lets it run its own script and the data's, and reach no network.
    """
    script = "\n".join((SCRIPTS / f"{name}.js").read_text(encoding="utf-8") for name in ORDER)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    page = environment().get_template("viewer.html.j2")
    return write(out_dir / NAME, page.render(study=study, script=Markup(script), digest=f"sha256-{digest}"))


def link(**filters: object) -> str:
    """The address of the rollouts that pass these filters, from the report."""
    return f"{NAME}#{urlencode({name: str(value) for name, value in filters.items()})}"
