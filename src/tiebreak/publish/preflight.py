"""The last look at a release before it leaves: each thing wrong as one line, none if it may go.

Card and report: the files and links that they name are there, and the card's numbers are what its template makes of
the artifacts. All files: no secret, no path of this machine. What people read: nothing that was to be filled in later.
The study: its licence and revisions. The repository: README and docs say what was measured (`tiebreak claims`).
"""

import fnmatch
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import yaml

from tiebreak.errors import DataError, HubError
from tiebreak.paths import Paths
from tiebreak.publish import findings, manifest
from tiebreak.publish.access import VARIABLE
from tiebreak.publish.card import PAGE, card
from tiebreak.publish.contents import names, texts
from tiebreak.publish.plan import files_in
from tiebreak.publish.publishing import cards_of
from tiebreak.publish.release import folder_of, read_study
from tiebreak.report.claims import LIST

CARD = "README.md"
READ_BY_PEOPLE = (CARD, "LICENSE", PAGE)
WRITTEN_BY_US = (CARD, "LICENSE", "study.json", "records.jsonl", "manifest.json", "ro-crate-metadata.json")
WRITTEN_BY_TRAINERS = ("config.json", "adapter_config.json", "generation_config.json", "tokenizer_config.json")
WEIGHTS = ".safetensors"
NOBODYS = ("/", "/root", "/home", "/tmp")
INSIDE = "make it again from paths inside the checkout, the study file's too (--config study=…)"
REBUILT = "results/report/rollouts/*"
"""What a release leaves out and names: the viewer's data, made anew from the rollouts."""
MOST = 3


def problems(paths: Paths, root: Path = Path()) -> list[str]:
    """Everything wrong with the release of a study, its models' cards and files, and the repository at `root`."""
    release, cards = folder_of(paths), cards_of(paths)
    files = files_in(release)
    found = [*about_study(release), *about_card(release), *about_links(release), *about_texts(files, WRITTEN_BY_US)]
    for name, path in files_in(cards).items() if cards.is_dir() else ():
        text = path.read_text(encoding="utf-8")
        found += [f"model card {name}: {line}" for line in in_text(text, people=True, ours=True)]
    return [*found, *about_models(paths), *about_repository(root)]


def require_fit(paths: Paths) -> None:
    """Refuse a release with anything wrong. Raises HubError with all of it."""
    found = problems(paths)
    if found:
        raise HubError("\n".join([f"{folder_of(paths)}: is not fit to be published ({len(found)} problems):", *found]))


def about_study(release: Path) -> Iterator[str]:
    """Licence and revisions."""
    study = read_study(release)
    if study.publish.license is None:
        yield "study: publish.license is null; name the licence of the data, as in cc-by-4.0"
    for place in findings.questions(study.model_dump(mode="json", by_alias=True)):
        yield f"study: {place} is `ask`; name it"
    if study.model.revision is None and "/" in study.model.base and not Path(study.model.base).exists():
        yield f"study: model.base is {study.model.base} without a revision; name its commit in model.revision"


def about_card(release: Path) -> Iterator[str]:
    """The card is the text that its template makes of the artifacts, and the files of its configs are there."""
    text = (release / CARD).read_text(encoding="utf-8")
    made = card(release).splitlines()
    for number, (line, expected) in enumerate(zip([*text.splitlines(), ""], [*made, ""], strict=False), start=1):
        if line != expected:
            yield f"{CARD}:{number}: says {line[:80]!r}, the artifacts say {expected[:80]!r}; make the release again"
            break
    told = yaml.safe_load(text.split("---\n")[1])
    patterns = [(item["config_name"], part["path"]) for item in told.get("configs", []) for part in item["data_files"]]
    for config, pattern in patterns or [("none", "configs")]:
        if not fnmatch.filter(files_in(release), pattern):
            yield f"{CARD}: config {config} names {pattern}, which is not in the release"


def about_links(release: Path) -> Iterator[str]:
    """The files that card and report name are in the release."""
    there = names(release)
    for name in (CARD, PAGE):
        if name not in there:
            yield f"{name}: is not in the release"
            continue
        text = (release / name).read_text(encoding="utf-8")
        for target in sorted({*findings.links(text, name), *findings.named(text, name)}):
            folder = any(path.startswith(f"{target.rstrip('/')}/") for path in there)
            if target not in there and not folder and not fnmatch.fnmatch(target, REBUILT):
                yield f"{name}: names {target}, which is not in the release"


def about_models(paths: Paths) -> Iterator[str]:
    """Nothing in the files beside the weights of the models that leave."""
    for run, model in sorted(manifest.read(folder_of(paths)).models.items()):
        if model["repo"] is None:
            continue
        files = {name: paths.model(run) / name for name in model["files"] if not name.endswith(WEIGHTS)}
        there = {name: path for name, path in files.items() if path.is_file()}
        yield from (f"model of {run}: {line}" for line in about_texts(there, WRITTEN_BY_TRAINERS))


def about_texts(files: Mapping[str, Path], ours: Sequence[str]) -> Iterator[str]:
    """Nothing in any file that must not leave; of each file at most a few findings. ours: those that we write."""
    said: dict[str, int] = {}
    for name, text in texts(files):
        for line in in_text(text, people=name in READ_BY_PEOPLE, ours=name in ours):
            said[name] = said.get(name, 0) + 1
            if said[name] <= MOST:
                yield f"{name}: {line}"


def in_text(text: str, *, people: bool, ours: bool) -> Iterator[str]:
    """What must not leave in one text.

    people: also what was to be filled in later. ours: also any path that looks like one of a machine; models write such
    paths too, so that elsewhere only the paths of this machine count.
    """
    own = os.environ.get(VARIABLE, "").strip()
    if own and own in text:
        yield f"holds the token in {VARIABLE}; take it out and revoke it"
    for what, beginning in findings.secrets(text):
        yield f"holds {what} ({beginning}); take it out and revoke it"
    here = [path for path in map(str, (Path.cwd(), Path.home())) if path not in NOBODYS and path in text]
    for path in dict.fromkeys([*here, *(findings.machine_paths(text) if ours else ())]):
        yield f"holds {path}, a path of somebody's machine; {INSIDE}"
    if people:
        for found in dict.fromkeys(findings.placeholders(text)):
            yield f"holds the placeholder {found!r}"


def about_repository(root: Path) -> Iterator[str]:
    """README and docs: the files that they link to are there, and their numbers are the artifacts'."""
    from tiebreak.report.claim_check import check

    for path in [root / "README.md", *sorted((root / "docs").glob("*.md"))]:
        name = path.relative_to(root).as_posix()
        text = path.read_text(encoding="utf-8") if path.is_file() else ""
        for target in sorted(set(findings.links(text, name))):
            if not (root / target).exists():
                yield f"{name}: links to {target}, which is not there"
    if (root / LIST).is_file():
        try:
            yield from check(root)["problems"]
        except DataError as problem:
            yield str(problem)
