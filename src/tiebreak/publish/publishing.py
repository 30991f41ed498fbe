"""A study's release at the hub: first its models' repositories, then the dataset that names them, then the receipt.

All of it is looked at before any of it is sent. Each repository gets one commit or none, so an interruption leaves
whole states behind, and a repeat finishes.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tiebreak.digest import file_digest
from tiebreak.errors import HubError
from tiebreak.job import write_json
from tiebreak.paths import Paths
from tiebreak.publish import manifest
from tiebreak.publish.access import check_rights
from tiebreak.publish.card import card
from tiebreak.publish.hub import State, Target, check, look, place, release
from tiebreak.publish.memory import Memory
from tiebreak.publish.model_card import model_card
from tiebreak.publish.plan import REMAKE, Plan, files_in, plan_of
from tiebreak.publish.release import build, folder_of, repository
from tiebreak.study import Study

if TYPE_CHECKING:
    from huggingface_hub import HfApi

FORMAT = 1
README = "README.md"
ANALYSIS = "results/stats/analysis.json"
STALE = f"is not what the release's manifest says; {REMAKE}"


def receipt_of(paths: Paths) -> Path:
    """What says where a release is."""
    return paths.root / "publish" / "receipt.json"


def cards_of(paths: Paths) -> Path:
    """The folder of the models' cards."""
    return paths.root / "publish" / "models"


def memory_of(paths: Paths) -> Memory:
    """What was sent from here."""
    return Memory(paths.root / "publish" / "sent.jsonl")


def check_named(study: Study) -> None:
    """Refuse a study that names no place for its release, or a name that the hub forbids. Raises HubError."""
    from huggingface_hub.errors import HFValidationError
    from huggingface_hub.utils._validators import validate_repo_id

    if study.publish.dataset is None:
        raise HubError(f"study {study.name}: publish.dataset is null; write owner/name of the dataset to publish to")
    if study.publish.license is None:
        raise HubError(f"study {study.name}: publish.license is null; name the licence of the data, as in cc-by-4.0")
    for run in study.runs:
        try:
            validate_repo_id(repository(study, run))
        except HFValidationError as problem:
            raise HubError(f"study {study.name}: run {run}: {problem}; choose another name or publish.models") from None


def repositories(study: Study) -> list[str]:
    """All repositories of a release."""
    return [str(study.publish.dataset), *(name for run in study.runs if (name := repository(study, run)) is not None)]


def make_release(study: Study, paths: Paths) -> None:
    """Build the release of a finished study and the cards of its models. Raises HubError where there is no room."""
    try:
        build(paths, study, card)
        write_model_cards(study, paths)
    except OSError as problem:
        place = problem.filename or paths.root / "publish"
        raise HubError(f"{place}: cannot be written ({problem.strerror}); make room, and run it again") from None


def write_model_cards(study: Study, paths: Paths) -> None:
    """Write the card of each model that has a repository."""
    found = manifest.read(folder_of(paths))
    analysis = json.loads((folder_of(paths) / ANALYSIS).read_text(encoding="utf-8"))
    cards_of(paths).mkdir(parents=True, exist_ok=True)
    for run, model in found.models.items():
        if model["repo"] is not None:
            path = cards_of(paths) / run / README
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(model_card(study, run, analysis, model, found.commit), encoding="utf-8")


def targets(study: Study, paths: Paths) -> dict[str, Target]:
    """The repositories by the run whose model they hold, the dataset last, under its own name.

    Raises HubError where a file is not what the release's manifest says.
    """
    folder = folder_of(paths)
    files, found = files_in(folder), manifest.read(folder)
    named = {run: found.models[run] for run in study.runs if run in found.models and found.models[run]["repo"]}
    made = {
        run: Target("model", model["repo"], model_files(paths, run, model["files"])) for run, model in named.items()
    }
    here = manifest.digests(folder)
    for name in sorted(here.keys() | found.files.keys()):
        if here.get(name) != found.files.get(name):
            raise HubError(f"{folder / name}: {STALE}")
    return {**made, "dataset": Target("dataset", str(study.publish.dataset), files)}


def model_files(paths: Paths, run: str, digests: dict[str, str]) -> dict[str, Path]:
    """The files of a model's repository: the model's own, with the bytes that the manifest knows, and its card."""
    files = {name: paths.model(run) / name for name in digests}
    for name, path in files.items():
        if not path.is_file() or file_digest(path) != digests[name]:
            raise HubError(f"{path}: {STALE}")
    return {**files, README: cards_of(paths) / run / README}


@dataclass(frozen=True)
class Difference:
    """A repository as it is and what the release would change; without a state it would be made."""

    target: Target
    state: State | None
    plan: Plan


def differences(api: "HfApi", wanted: Sequence[Target]) -> list[Difference]:
    """Each repository against its remote."""
    found = []
    for target in wanted:
        state = look(api, target)
        found.append(Difference(target, state, plan_of(target.contents(), state.files if state else {})))
    return found


def lines(found: Sequence[Difference], *, private: bool) -> Iterator[str]:
    """Differences as a person reads them."""
    for item in found:
        if item.state is None:
            yield f"{item.target}: would be made, {'private' if private else 'public'}"
        else:
            yield f"{item.target}, {'private' if item.state.private else 'public'}, at {item.state.head}:"
        yield from item.plan.lines()


def allow_over(api: "HfApi", found: Sequence[Difference], memory: Memory, commit: str) -> None:
    """Remember that a commit of somebody else may be replaced. Raises HubError where it is no repository's head."""
    places = [place(api, item.target) for item in found if item.state is not None and item.state.head == commit]
    if not places:
        heads = ", ".join(item.state.head for item in found if item.state is not None) or "none"
        raise HubError(f"--over {commit}: no repository of this release is there; heads now: {heads}")
    for name in places:
        memory.sent(name, commit)


def publish(api: "HfApi", study: Study, paths: Paths, *, over: str | None = None) -> dict[str, Any]:
    """Publish the release that lies in the study's folder; the receipt, which is also written.

    over: the head of a remote that somebody else changed and that may be replaced. Raises HubError, and then before
    anything was sent where that can be known.
    """
    check_named(study)
    wanted, memory, private = targets(study, paths), memory_of(paths), study.publish.private
    memory.prepare()
    check_rights(api, [target.repo for target in wanted.values()])
    found = differences(api, list(wanted.values()))
    if over is not None:
        allow_over(api, found, memory, over)
    for item in found:
        check(api, item.target, item.state, item.plan, memory, private=private)
    digest = file_digest(folder_of(paths) / manifest.NAME)
    message = f"Release of study {study.name}, manifest {digest[:12]}"
    made = {
        name: asdict(release(api, target, memory, message=message, private=private)) for name, target in wanted.items()
    }
    receipt = receipt_for(study, paths, digest, made)
    write_json(receipt_of(paths), receipt)
    return receipt


def receipt_for(study: Study, paths: Paths, digest: str, made: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """The receipt: which release, and the commits that hold it."""
    return {
        "format": FORMAT,
        "study": study.name,
        "release": digest,
        "science": manifest.read(folder_of(paths)).science,
        "dataset": made.pop("dataset"),
        "models": made,
    }


def told(receipt: Mapping[str, Any]) -> list[str]:
    """A receipt as a person reads it."""
    made = [*receipt["models"].values(), receipt["dataset"]]
    return [f"{item['repo']}: {'published' if item['changed'] else 'nothing to do'}: {item['url']}" for item in made]
