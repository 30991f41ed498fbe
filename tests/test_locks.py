"""The real locks, and what must repeat a version that pyproject.toml pins."""

import re
import tomllib
from pathlib import Path

REPO = Path(__file__).resolve().parents[1]


def test_the_real_lock_names_no_index_and_every_requirement() -> None:
    lock = (REPO / "requirements" / "project.txt").read_text()
    wanted = (REPO / "requirements" / "project.in").read_text()
    names = [canonical(name) for name in re.findall(r"^[\w.-]+", wanted, re.MULTILINE)]
    locked = {canonical(name) for name in re.findall(r"^([\w.-]+)==", lock, re.MULTILINE)}
    assert "://" not in lock
    assert names
    assert [name for name in names if name not in locked] == []
    assert all(re.search(r"--hash=sha256:[0-9a-f]{64}", block) for block in re.split(r"\n(?=\w)", lock)[1:])


def test_the_real_lock_for_gpus_is_the_other_one_but_for_torch() -> None:
    texts = [(REPO / "requirements" / name).read_text() for name in ("project.txt", "cuda.txt")]
    project, cuda = (dict(re.findall(r"^([\w.-]+)(?:\[.*\])?==([^ ]+)", text, re.MULTILINE)) for text in texts)
    assert project.keys() & cuda.keys() == {"torch"}
    assert project["torch"] == f"{cuda['torch']}+cpu"
    assert "://" not in texts[1] and "nvidia-cublas" in cuda
    assert all(re.search(r"--hash=sha256:[0-9a-f]{64}", block) for block in re.split(r"\n(?=\w)", texts[1])[1:])


def test_what_must_repeat_a_pinned_version_agrees_with_it() -> None:
    settings = tomllib.loads((REPO / "pyproject.toml").read_text())
    pinned, tool = settings["tool"]["tiebreak"], settings["tool"]
    assert settings["project"]["requires-python"] == f">={pinned['python']}"
    assert tool["ruff"]["target-version"] == f"py{pinned['python'].replace('.', '')}"
    assert tool["mypy"]["python_version"] == pinned["python"]
    readme = (REPO / "README.md").read_text()
    assert f"Python {pinned['python']}" in readme and f"({pinned['rust']} is pinned)" in readme
    named = re.compile(rf"{re.escape(pinned['rust'])}|python{pinned['python']}|cudaPackages_\d")
    for name in ("requirements/sync.py", "requirements/lock.py", "nix/default.nix", "nix/checks.nix", ".ci/run"):
        assert named.findall((REPO / name).read_text()) == [], name


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
