"""A hub on the loopback with three users, and a small folder to release."""

import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hub.messages import User
from hub.server import Hub, serving
from huggingface_hub import constants
from publish.small import build_release, study_of

from tiebreak.paths import Paths
from tiebreak.publish import access
from tiebreak.publish.hub import Outcome, Target, release
from tiebreak.publish.memory import Memory
from tiebreak.publish.plan import files_in
from tiebreak.study import Study

OWNER, READER, STRANGER = (f"hf_{name * 4}" for name in ("owner", "reader", "stranger"))
REPO = "anna/study"


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long the client would have waited; nobody does."""
    waited: list[float] = []
    monkeypatch.setattr(time, "sleep", waited.append)
    return waited


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, waits: list[float]) -> Iterator[Hub]:
    """The hub, and the environment of its owner's client. A request that no route answers fails the test."""
    users = {OWNER: User("anna", organizations=("lab",)), READER: User("anna", "read"), STRANGER: User("carl")}
    with serving(tmp_path / "hub", users) as found:
        monkeypatch.setenv("HF_ENDPOINT", found.endpoint)
        monkeypatch.setenv("HF_TOKEN", OWNER)
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
        yield found
        assert found.unknown == []


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two files that git keeps and two that it does not."""
    made = tmp_path / "release"
    for name, body in {
        "README.md": b"---\nlicense: mit\n---\n# A study\n",
        "study.json": b"{}\n",
        "tables/a.parquet": b"PAR1 first",
        "tables/b.parquet": b"PAR1 second",
    }.items():
        (made / name).parent.mkdir(parents=True, exist_ok=True)
        (made / name).write_bytes(body)
    return made


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    return Memory(tmp_path / "sent.jsonl")


@pytest.fixture
def send(hub: Hub, folder: Path, memory: Memory) -> Callable[[], Outcome]:
    """Releases the folder as it is."""

    def sent() -> Outcome:
        target = Target("dataset", REPO, files_in(folder))
        return release(access.client(), target, memory, message="A release", private=True)

    return sent


def bodies(folder: Path) -> dict[str, bytes]:
    """The files of a folder."""
    return {name: path.read_bytes() for name, path in files_in(folder).items()}


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a small release; not to be changed."""
    root = tmp_path_factory.mktemp("built")
    build_release(root, study_of(root))
    return root


@pytest.fixture
def study(tmp_path: Path) -> Study:
    """The minute study, to be published as anna's."""
    return study_of(tmp_path)


@pytest.fixture
def paths(tmp_path: Path, study: Study, built: Path) -> Paths:
    """A small release and its models, to be changed."""
    shutil.copytree(built / "results", tmp_path / "results")
    return Paths(study.name, tmp_path / "results")
