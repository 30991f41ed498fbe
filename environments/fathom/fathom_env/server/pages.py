"""The pages that people use: `/` to play, `/demo` to look at recorded episodes. No build step, nothing from outside."""

from pathlib import Path
from typing import Any

from fastapi import FastAPI
from fastapi.responses import FileResponse, HTMLResponse, Response

import tiebreak.report
from tiebreak.domains.fathom.orders import Allowance
from tiebreak.sandbox.probe import enforcement

OURS = Path(__file__).parents[1] / "page"
REPORT = Path(tiebreak.report.__file__).parent
FILES = {
    "style.css": REPORT / "templates" / "style.css",
    "text.js": REPORT / "viewer" / "text.js",
    **{name: OURS / name for name in ("page.css", "show.js", "play.js", "demo.js")},
}
TYPES = {".css": "text/css", ".js": "text/javascript"}
POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; form-action 'none'"
HEADERS = {"Content-Security-Policy": POLICY, "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer"}


def add_pages(app: FastAPI, allowance: Allowance, recorded: dict[str, Any]) -> None:
    """Add the routes. recorded: of `tiebreak.domains.fathom.recorded.load`."""

    @app.get("/", include_in_schema=False)
    def play() -> HTMLResponse:
        return page("play.html")

    @app.get("/demo", include_in_schema=False)
    def demo() -> HTMLResponse:
        return page("demo.html")

    @app.get("/page/{name}", include_in_schema=False)
    def file(name: str) -> Response:
        found = FILES.get(name)
        if found is None:
            return Response("there is no such file", 404)
        return FileResponse(found, media_type=TYPES[found.suffix], headers=HEADERS)

    @app.get("/demo/episodes", tags=["Environment Info"])
    def episodes() -> dict[str, Any]:
        """Recorded episodes, each labelled with what made it."""
        return recorded

    @app.get("/about", tags=["Environment Info"])
    def about() -> dict[str, Any]:
        """What is allowed, and what confines code here."""
        return {"allowance": allowance.model_dump(), "confinement": enforcement()}

    @app.get("/healthz", tags=["Health"])
    def healthz() -> dict[str, str]:
        """As `/health`."""
        return {"status": "healthy"}


def page(name: str) -> HTMLResponse:
    """One of our pages."""
    return HTMLResponse((OURS / name).read_text(encoding="utf-8"), headers=HEADERS)
