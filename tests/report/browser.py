"""A page as headless Chromium shows it."""

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from html import unescape
from pathlib import Path

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
REASON = "no Chromium here (Debian: apt-get install chromium); the pages were not opened in a browser"


@dataclass(frozen=True)
class Shown:
    """The document after its scripts ran, and what they wrote to the console."""

    dom: str
    console: list[str]

    def text(self, identity: str) -> str:
        """The text of the element with this id; it must hold no other of its kind."""
        found = re.search(rf'<(\w+)[^>]*\bid="{identity}"[^>]*>(.*?)</\1>', self.dom, re.DOTALL)
        assert found, f"no element {identity}"
        return unescape(re.sub(r"<[^>]+>", "", found[2]))

    def rows(self) -> list[list[str]]:
        """The cells of the list of rollouts."""
        body = self.dom.partition('<tbody id="rows">')[2].partition("</tbody>")[0]
        cells = [re.findall(r"<td[^>]*>(.*?)</td>", row, re.DOTALL) for row in body.split("</tr>")[:-1]]
        return [[unescape(re.sub(r"<[^>]+>", "", cell)) for cell in row] for row in cells]

    def panes(self) -> list[str]:
        """The addresses of the rollouts that are open."""
        return re.findall(r'data-address="([^"]+)"', self.dom)


def show(page: Path, profile: Path, address: str = "") -> Shown:
    """Open a page from the disk at `#address` and wait until it has nothing left to do.

    Chromium has no sandbox for root; what is opened here is our own page.
    """
    assert CHROMIUM
    command = [
        CHROMIUM,
        "--headless",
        "--disable-gpu",
        "--no-first-run",
        "--disable-dev-shm-usage",
        f"--user-data-dir={profile}",
    ]
    command += ["--no-sandbox"] if os.geteuid() == 0 else []
    command += ["--enable-logging=stderr", "--virtual-time-budget=20000", "--dump-dom", f"{page.as_uri()}#{address}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    return Shown(done.stdout, [line for line in done.stderr.splitlines() if ":CONSOLE" in line])
