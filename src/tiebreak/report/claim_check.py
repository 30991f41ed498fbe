"""All claims of a repository against its kept artifacts."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tiebreak.errors import ConfigError
from tiebreak.report import readme
from tiebreak.report.claim_marks import Problem, blocks_of, named, refuse_torn, rendered, stale, typed
from tiebreak.report.claims import LIST, Claims, changed, load, read_artifacts, written

SHOWN = 60
BLOCKS = {"laptop": readme.block}


def documents(root: Path) -> Iterator[tuple[str, str]]:
    """Names and texts of the documents that may hold claims: README.md and docs/*.md."""
    for path in [root / "README.md", *sorted((root / "docs").glob("*.md"))]:
        text = path.read_text(encoding="utf-8")
        name = str(path.relative_to(root))
        refuse_torn(text, name)
        yield name, text


def said(root: Path, found: Claims) -> tuple[dict[str, str], dict[str, str]]:
    """What the artifacts say: the text of each claim, and of each block."""
    artifacts = read_artifacts(root, found)
    claims = {name: written(claim, artifacts, name) for name, claim in found.claims.items()}
    if unknown := sorted(set(found.blocks) - set(BLOCKS)):
        raise ConfigError(f"{LIST}: blocks: {unknown[0]} is no block; known are {', '.join(BLOCKS)}")
    blocks = {name: BLOCKS[name](artifacts[artifact]) for name, artifact in found.blocks.items()}
    return claims, blocks


def check(root: Path) -> dict[str, Any]:
    """{problems: lines of text, retired: [{name, said, reason}], claims: {name: text}}."""
    found = load(root)
    claims, blocks = said(root, found)
    problems = [changed_line(found, name, digest) for name, digest in changed(root, found).items()]
    used: set[str] = set()
    for name, text in documents(root):
        used |= named(text) | blocks_of(text)
        problems += [line(name, problem) for problem in [*stale(text, claims, blocks), *typed(text)]]
    problems += [
        f"{LIST}: {name} is in no document; remove it, or retire it" for name in [*claims, *blocks] if name not in used
    ]
    return {"problems": problems, "retired": [item.model_dump() for item in found.retired], "claims": claims}


def write(root: Path) -> list[str]:
    """Accept the artifacts as they are and write what they say into the documents; lines on what changed."""
    found = load(root)
    text, lines = (root / LIST).read_text(encoding="utf-8"), []
    for name, digest in changed(root, found).items():
        if digest:
            text = text.replace(found.kept[name].sha256, digest)
            lines.append(f"{LIST}: {name}: accepted as {digest[:10]}…")
    (root / LIST).write_text(text, encoding="utf-8")
    claims, blocks = said(root, found)
    for name, old in documents(root):
        new = rendered(old, claims, blocks)
        if new != old:
            (root / name).write_text(new, encoding="utf-8")
            lines += [line(name, problem) for problem in stale(old, claims, blocks)]
    return lines


def line(document: str, problem: Problem) -> str:
    """A problem as a line of text."""
    found, expected = cut(problem.found), cut(problem.expected)
    return f"{document}:{problem.line}: {problem.name}: found {found!r}, expected {expected!r}"


def cut(text: str) -> str:
    """A text short enough for a line."""
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"


def changed_line(found: Claims, name: str, digest: str) -> str:
    """What is said of an artifact that is another file than the one that was kept."""
    artifact = found.kept[name]
    now = f"its SHA-256 is {digest}, expected {artifact.sha256}" if digest else "is gone"
    return f"{artifact.file}: {now}; look at it, then `./dev tiebreak claims --write`"
