import base64
import json
import os
import re
import subprocess
import tomllib
from pathlib import Path

import pytest

REPO = Path(__file__).resolve().parents[1]
FLAKE = (REPO / "flake.nix").read_text()


def test_the_lock_pins_every_input_of_the_flake() -> None:
    """Nix itself does not notice a missing rev or narHash."""
    nodes = json.loads((REPO / "flake.lock").read_text())["nodes"]
    urls = dict(re.findall(r'inputs\.(\w+)\.url = "github:([^"]+)"', FLAKE))
    assert urls
    assert set(nodes["root"]["inputs"]) == set(urls)
    for name, url in urls.items():
        node = nodes[nodes["root"]["inputs"][name]]
        original, locked = node["original"], node["locked"]
        assert "/".join(original[key] for key in ("owner", "repo", "ref")) == url
        assert (locked["owner"], locked["repo"]) == (original["owner"], original["repo"])
        assert re.fullmatch(r"[0-9a-f]{40}", locked["rev"])
        assert len(base64.b64decode(locked["narHash"].removeprefix("sha256-"), validate=True)) == 32


def test_python_is_the_one_that_the_packages_are_locked_for() -> None:
    (minor,) = set(re.findall(r"python3\.?(\d+)\b", FLAKE))
    assert f'"--python-version", "3.{minor}"' in (REPO / "requirements" / "lock.py").read_text()
    project = tomllib.loads((REPO / "pyproject.toml").read_text())["project"]
    assert project["requires-python"] == f">=3.{minor}"


@pytest.mark.parametrize("status", [0, 2])
def test_the_shell_hook_syncs_and_enters_the_environment(tmp_path: Path, status: int) -> None:
    """With a stand-in for `dev` that notes its calls; test_dev.py tests the real one."""
    found = re.search(r"shellHook = ''\n(.*?)'';", FLAKE, re.DOTALL)
    assert found
    dev = tmp_path / "dev"
    dev.write_text(f'#!/bin/sh\n[ "$1" = --env ] && echo "export ENTERED=yes"\necho "$1" >>calls\nexit {status}\n')
    dev.chmod(0o755)
    script = f'{found[1]}\necho "$ENTERED $TIEBREAK_SHELL"'
    environment = os.environ | {"GIT_CEILING_DIRECTORIES": str(tmp_path.parent)}
    done = subprocess.run(["bash", "-c", script], cwd=tmp_path, capture_output=True, text=True, env=environment)
    expected = (0, f"yes {tmp_path}\n", ["--sync", "--env"]) if status == 0 else (2, "", ["--sync"])
    assert (done.returncode, done.stdout, (tmp_path / "calls").read_text().split()) == expected
