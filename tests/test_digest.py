import json
import sys
from pathlib import Path

import pytest

from tiebreak.digest import (
    closure,
    code_digest,
    file_digest,
    json_digest,
    package_locks,
    pinned_versions,
    pins,
    text_digest,
    toolchain_digest,
)
from tiebreak.errors import ConfigError

REPO = Path(__file__).resolve().parents[1]
ABC = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"  # FIPS 180-2, appendix B.1


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A library of packages and modules, and two scripts: `left` reaches a, b and deep; `right` reaches c."""
    files = {
        "src/tiebreak/__init__.py": '"""The library."""\n',
        "src/tiebreak/a.py": '"""A."""\nimport json\nfrom tiebreak import b\ndef f():\n    """F."""\n    return b.x\n',
        "src/tiebreak/b.py": "x = 1\n\n\ndef g():\n    from tiebreak.box import deep\n    return deep\n",
        "src/tiebreak/c.py": "y = 2\n",
        "src/tiebreak/box/__init__.py": "",
        "src/tiebreak/box/deep.py": "from . import sibling\nfrom .sibling import z\nfrom ..b import x\n",
        "src/tiebreak/box/sibling.py": "z = 3\n",
        "src/tiebreak/box/lone.py": "w = 4\n",
        "scripts/left.py": "from tiebreak.a import f\nf()\n",
        "scripts/right.py": "import tiebreak.c\n",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def digests(tree: Path) -> dict[str, str]:
    return {script.stem: code_digest(script, tree) for script in sorted((tree / "scripts").glob("*.py"))}


def reached(tree: Path, text: str) -> list[str]:
    """What a script of this text reaches, without the package itself."""
    (tree / "script.py").write_text(text)
    return [m.name.removeprefix("tiebreak.") for m in closure(Path("script.py"), tree) if m.name != "tiebreak"]


def test_plain_digests(tmp_path: Path) -> None:
    (tmp_path / "abc").write_bytes(b"abc")
    assert file_digest(tmp_path / "abc") == text_digest("abc") == ABC
    assert (
        json_digest({"b": [1, 2], "a": None})
        == json_digest({"a": None, "b": [1, 2]})
        == text_digest('{"a":null,"b":[1,2]}')
    )
    assert json_digest([1, 2]) != json_digest([2, 1])
    with pytest.raises(ValueError, match="JSON"):
        json_digest(float("nan"))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.py", "# a comment\nimport json  # another\n\nfrom tiebreak import (\n    b,\n)\ndef f(): return b.x\n"),
        ("a.py", '"""Other words."""\nimport json\nfrom tiebreak import b\ndef f():\n  """New."""\n  return (b.x)\n'),
        ("c.py", 'y = 2\n"""What y is."""\n'),
    ],
)
def test_comments_layout_and_docstrings_do_not_count(tree: Path, name: str, text: str) -> None:
    before = digests(tree)
    (tree / "src/tiebreak" / name).write_text(text)
    assert digests(tree) == before


@pytest.mark.parametrize(
    ("name", "text", "changed"),
    [
        ("src/tiebreak/a.py", "def f():\n    return 2\n", {"left"}),
        ("src/tiebreak/c.py", "y = '2'\n", {"right"}),
        ("src/tiebreak/box/sibling.py", "z = 4\n", {"left"}),
        ("src/tiebreak/box/__init__.py", "q = 1\n", {"left"}),
        ("src/tiebreak/box/lone.py", "w = 5\n", set()),
        ("src/tiebreak/__init__.py", "version = 2\n", {"left", "right"}),
        ("scripts/right.py", "import tiebreak.c\nprint()\n", {"right"}),
        ("scripts/left.py", "from tiebreak.a import f\nf()  # called\n", set()),
    ],
)
def test_an_edit_reaches_the_scripts_that_reach_it(tree: Path, name: str, text: str, changed: set[str]) -> None:
    before = digests(tree)
    (tree / name).write_text(text)
    after = digests(tree)
    assert {script for script in before if before[script] != after[script]} == changed


def test_renaming_and_swapping_modules_counts(tree: Path) -> None:
    script = "from tiebreak import a, c\n"
    (tree / "scripts/left.py").write_text(script)
    before = digests(tree)["left"]
    a, c = (tree / "src/tiebreak" / name for name in ("a.py", "c.py"))
    texts = a.read_text(), c.read_text()
    a.write_text(texts[1])
    c.write_text(texts[0])
    assert digests(tree)["left"] != before


def test_the_same_tree_elsewhere_has_the_same_digest(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    other = tmp_path_factory.mktemp("other") / "moved"
    tree.rename(other)
    before = digests(other)
    other.rename(tree)
    assert digests(tree) == before


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("import os, json", []),
        ("import tiebreak", []),
        ("import tiebreak.c as d", ["c"]),
        ("from tiebreak import c as d", ["c"]),
        ("from tiebreak.c import y", ["c"]),
        ("import tiebreak.box.lone", ["box", "box.lone"]),
        ("from tiebreak.box import lone", ["box", "box.lone"]),
        ("from tiebreak.box import deep", ["b", "box", "box.deep", "box.sibling"]),
        ("from tiebreak.box import *", ["b", "box", "box.deep", "box.lone", "box.sibling"]),
        ("from tiebreak.c import *", ["c"]),
        ("def f():\n    if 1:\n        from tiebreak import c", ["c"]),
        ("try:\n    import tiebreak.c\nexcept ImportError:\n    pass", ["c"]),
        ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import tiebreak.c", []),
        (
            "import typing\nif typing.TYPE_CHECKING:\n    import tiebreak.c\nelse:\n    import tiebreak.box.lone",
            ["box", "box.lone"],
        ),
        ("MODULES = {'c': 'tiebreak.c', 'other': 'tiebreak.none'}", ["c"]),
        ("import tiebreakers", []),
    ],
)
def test_closure_follows_the_import_statements(tree: Path, text: str, names: list[str]) -> None:
    assert reached(tree, text) == names


def test_import_cycles_end(tree: Path) -> None:
    (tree / "src/tiebreak/c.py").write_text("from tiebreak import d\n")
    (tree / "src/tiebreak/d.py").write_text("import tiebreak.c\nimport tiebreak.d\n")
    assert reached(tree, "import tiebreak.d") == reached(tree, "import tiebreak.c") == ["c", "d"]
    before = digests(tree)["right"]
    (tree / "src/tiebreak/d.py").write_text("import tiebreak.c\nimport tiebreak.d\nx = 1\n")
    assert digests(tree)["right"] != before


def test_relative_imports_of_a_package_start_at_itself(tree: Path) -> None:
    (tree / "src/tiebreak/box/__init__.py").write_text("from .lone import w\nfrom .. import c\n")
    assert reached(tree, "import tiebreak.box") == ["box", "box.lone", "c"]


def test_missing_modules_and_syntax_errors_name_their_place(tree: Path) -> None:
    with pytest.raises(ConfigError, match=r"script\.py:2: imports tiebreak\.nothing, which is no module"):
        reached(tree, "\nimport tiebreak.nothing")
    with pytest.raises(ConfigError, match=r"script\.py: is no valid Python"):
        reached(tree, "def")
    with pytest.raises(ConfigError, match=r"absent\.py: cannot be read"):
        code_digest(Path("absent.py"), tree)


@pytest.fixture
def locks(tmp_path: Path) -> Path:
    (tmp_path / "requirements").mkdir()
    (tmp_path / "requirements/project.txt").write_text(
        "# made by\ntorch==2.13.0+cpu \\\n --hash=sha256:00\nruff==0.17.6 \\\n --hash=sha256:11\nnumpy==2.4.6 ; x\n"
    )
    (tmp_path / "pyproject.toml").write_text('[tool.tiebreak]\nrust = "1.95"\n')
    (tmp_path / "flake.lock").write_text('{"nodes": {"nixpkgs": 1}}')
    return tmp_path


def edit(root: Path, name: str, old: str, new: str) -> None:
    text = (root / name).read_text()
    assert old in text
    (root / name).write_text(text.replace(old, new))


def test_pins_are_names_and_versions(locks: Path) -> None:
    assert pins((locks / "requirements/project.txt").read_text()) == ["numpy==2.4.6 ; x", "torch==2.13.0+cpu"]
    assert len(pins((REPO / "requirements/project.txt").read_text())) > 50


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("requirements/project.txt", "2.13.0", "2.13.1"),
        ("pyproject.toml", "1.95", "1.96"),
        ("flake.lock", "1", "2"),
    ],
)
def test_toolchain_sees_a_changed_lock(locks: Path, name: str, old: str, new: str) -> None:
    before = toolchain_digest(locks)
    edit(locks, name, old, new)
    assert toolchain_digest(locks) != before


def test_toolchain_is_blind_to_what_changes_no_result(locks: Path) -> None:
    before = toolchain_digest(locks)
    edit(locks, "requirements/project.txt", "made by", "made with")
    edit(locks, "requirements/project.txt", "sha256:00", "sha256:00 \\\n    --hash=sha256:22")
    edit(locks, "requirements/project.txt", "ruff==0.17.6", "ruff==0.18.0")
    edit(locks, "flake.lock", " ", "\n  ")
    edit(locks, "pyproject.toml", '"1.95"\n', '"1.95" # pinned\n')
    assert toolchain_digest(locks) == before


def test_toolchain_sees_another_python(locks: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = toolchain_digest(locks)
    monkeypatch.setattr(sys, "version_info", (*sys.version_info[:2], 99, "final", 0))
    assert toolchain_digest(locks) == before
    monkeypatch.setattr(sys, "version_info", (3, 99, 0, "final", 0))
    assert toolchain_digest(locks) != before


def test_toolchain_knows_which_torch_the_environment_has(locks: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (locks / "requirements/cuda.txt").write_text(
        "torch==2.13.0 \\\n --hash=sha256:22\ntriton==3.7.1 \\\n --hash=sha256:33\n"
    )
    monkeypatch.delenv("TIEBREAK_TORCH", raising=False)
    unsaid = toolchain_digest(locks)
    monkeypatch.setenv("TIEBREAK_TORCH", "cpu")
    assert toolchain_digest(locks) == unsaid
    monkeypatch.setenv("TIEBREAK_TORCH", "cuda")
    assert toolchain_digest(locks) != unsaid
    both = "\n".join(path.read_text() for path in package_locks(locks))
    assert pins(both) == ["numpy==2.4.6 ; x", "torch==2.13.0", "triton==3.7.1"]


def test_the_repository_pins_its_toolchain(tmp_path: Path) -> None:
    assert pinned_versions(REPO).keys() == {"python", "rust", "oldest_rust", "cuda"}
    (tmp_path / "pyproject.toml").write_text("[tool.")
    with pytest.raises(ConfigError, match=r"pyproject\.toml: \[tool\.tiebreak\] cannot be read"):
        pinned_versions(tmp_path)


def test_missing_or_damaged_locks_are_errors(locks: Path) -> None:
    (locks / "flake.lock").unlink()
    toolchain_digest(locks)  # not everybody has Nix
    (locks / "flake.lock").write_text("{")
    with pytest.raises(ConfigError, match="locks cannot be read"):
        toolchain_digest(locks)
    (locks / "flake.lock").write_text(json.dumps({}))
    (locks / "requirements/project.txt").unlink()
    with pytest.raises(ConfigError, match=r"project\.txt"):
        toolchain_digest(locks)


@pytest.mark.parametrize("script", sorted((REPO / "scripts").glob("*.py")), ids=lambda script: script.stem)
def test_every_script_of_the_repository_reaches_the_library(script: Path) -> None:
    assert len(closure(script, REPO)) > 1
    assert len(code_digest(script, REPO)) == 64


def test_the_code_of_other_domains_does_not_count(tree: Path) -> None:
    for name in ("one", "two"):
        (tree / f"src/tiebreak/domains/{name}").mkdir(parents=True)
        (tree / f"src/tiebreak/domains/{name}/__init__.py").write_text("")
        (tree / f"src/tiebreak/domains/{name}/rules.py").write_text("x = 1\n")
    (tree / "src/tiebreak/domains/__init__.py").write_text("")
    (tree / "src/tiebreak/domains/base.py").write_text("x = 1\n")
    script = tree / "scripts/both.py"
    script.write_text(
        "import tiebreak.domains.base\nimport tiebreak.domains.one.rules\nimport tiebreak.domains.two.rules\n"
    )

    def found() -> list[str]:
        return [code_digest(script, tree, domain) for domain in (None, "one", "two")]

    before = found()
    (tree / "src/tiebreak/domains/two/rules.py").write_text("x = 2\n")
    after = found()
    assert [a == b for a, b in zip(before, after, strict=True)] == [False, True, False]
    (tree / "src/tiebreak/domains/base.py").write_text("x = 2\n")
    assert [a == b for a, b in zip(after, found(), strict=True)] == [False] * 3
