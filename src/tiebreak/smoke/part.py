"""The small study of a smoke test in progress, and what a stage says of itself."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from tiebreak.domains.base import Domain
from tiebreak.job_domain import opened
from tiebreak.paths import Paths
from tiebreak.study import Study

State = Literal["ok", "no-go", "not tried"]


@dataclass(frozen=True)
class Line:
    """One thing tried, with what came of it."""

    subject: str
    state: State
    found: str
    seconds: float = 0.0


class NotHereError(Exception):
    """A stage that cannot be tried on this machine, or without one before it."""


class StopError(Exception):
    """A stage whose outcome stops the study."""


@dataclass
class Slice:
    """The small study in progress. gpu: whether the study's device is here; models are folders."""

    study: Study
    paths: Paths
    folder: Path
    gpu: bool
    members: dict[str, list[Any]] = field(default_factory=dict)
    base: Path | None = None
    policy: Path | None = None

    @property
    def parts(self) -> dict[str, Any]:
        """The study as plain values."""
        return self.study.parts()

    def domain(self) -> Domain:
        """The study's domain with all reward tables; its verdicts are kept apart from the study's."""
        parts, cache = self.parts, self.folder / "verdicts"
        return opened(self.study.domain, parts["toolbox"], parts["arms"], workers=2, cache=cache)

    def at_hand(self, path: Path) -> bool:
        """Whether a folder holds a model."""
        return (path / "config.json").is_file()


def need_no_server(part: Slice, stage: Literal["rlvr", "evaluation"], target: Path) -> None:
    """Leave out a stage that samples on a server: transformers on the CPU would be another engine, and take hours."""
    if part.study.engine(stage) == "vllm":
        raise NotHereError(f"vLLM samples here, and a smoke test starts no server; to try it, make {target}")


def need(value: Any, what: str) -> Any:
    """What an earlier stage left."""
    if not value:
        raise NotHereError(f"there are no {what}" if what == "cases" else f"there is no {what}")
    return value
