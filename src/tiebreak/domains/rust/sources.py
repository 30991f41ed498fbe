"""Where blueprints come from, behind one interface: each source draws what it has, and bad specs are rejects."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Literal, Protocol

from tiebreak.domains.base import Drawn as Drawn
from tiebreak.domains.base import Reject
from tiebreak.domains.rust.blueprints import MANIFEST, Blueprint
from tiebreak.domains.rust.generator import ATTEMPTS, generate
from tiebreak.domains.rust.imports.dataset import Dataset, fetch
from tiebreak.domains.rust.imports.families import Families, read_families, template_of
from tiebreak.domains.rust.imports.folders import SPECS, read_folders
from tiebreak.domains.rust.imports.rows import Row, identifier, read_rows
from tiebreak.domains.rust.llm.orders import Order
from tiebreak.domains.rust.protocol import format_call, parse_turn
from tiebreak.errors import BlueprintError, DataError

SHOWN = 8
_FENCE = re.compile(r"\s*```\w*\n(.*)\n```\s*", re.DOTALL)


def take(drawn: Drawn, row: Row, make: Callable[[Row], Blueprint]) -> None:
    """Add the blueprint that `make` gives of a row, or the row as a reject with the error."""
    try:
        drawn.blueprints.append(make(row))
    except BlueprintError as problem:
        drawn.rejects.append(Reject(case_id=row.name, step=0, errors=[f"{row.name}: {problem}"]))


class Source(Protocol):
    """A source of blueprints."""

    def draw(self, root_seed: int) -> Drawn:
        """All that it has. The same seed, and the same revision of what it reads, give the same."""
        ...


@dataclass(frozen=True)
class Generated:
    """The domain's own generator."""

    templates: Literal["all"] | Sequence[str]
    cases: int
    attempts: int = ATTEMPTS

    def draw(self, root_seed: int) -> Drawn:
        """`cases` blueprints, whose recover plans make at most `attempts` patches."""
        items = generate(self.templates, self.cases, root_seed, attempts=self.attempts)
        return Drawn(items, [], f"{len(items)} blueprints from the generator, seed {root_seed}")


@dataclass(frozen=True)
class Imported:
    """Specs that others made: `specs`, a JSONL file of the dataset, or else its case folders.

    families: a file of name patterns, which stand in for templates that nobody recorded.
    """

    dataset: str
    revision: str | None = None
    specs: str | None = None
    families: str | None = None

    def draw(self, root_seed: int) -> Drawn:
        """The blueprints of the dataset. Raises DataError where the dataset cannot be had or holds no spec at all."""
        families = [] if self.families is None else read_families(Path(self.families))
        dataset = fetch(self.dataset, self.revision, None if self.specs is None else [self.specs])
        drawn = Drawn()
        for row in self._rows(dataset):
            take(drawn, row, partial(adopt, families=families))
        checked = sum(bool(item.hidden_checks) for item in drawn.blueprints)
        drawn.words = (
            f"{len(drawn.blueprints)} blueprints from {dataset.words}, {len(drawn.rejects)} rejected; {checked} have "
            "hidden checks (the grade of the others rests on their visible tests alone)"
        )
        return drawn

    def _rows(self, dataset: Dataset) -> list[Row]:
        if self.specs is not None:
            if self.specs not in dataset.names:
                raise DataError(f"dataset {dataset.words}: there is no {self.specs}{_lines_there(dataset)}")
            if not (dataset.root / self.specs).resolve().is_relative_to(dataset.inside.resolve()):
                raise DataError(f"dataset {dataset.words}: {self.specs} leads out of it; put the file itself there")
            return read_rows(dataset.root / self.specs)
        rows = read_folders(dataset.root, dataset.inside)
        if not rows:
            raise DataError(
                f"dataset {dataset.words}: holds no case folder ({MANIFEST} beside {' or '.join(SPECS)}); "
                f"name a file of specs in `specs`{_lines_there(dataset)}"
            )
        return rows


@dataclass(frozen=True)
class Written:
    """Specs that a language model wrote to `orders`: its replies, as rule `replies` keeps them."""

    replies: Path
    model: str
    orders: Sequence[Order]

    def draw(self, root_seed: int) -> Drawn:
        """The blueprints among the replies. Raises DataError where these are not the replies to the orders."""
        rows = read_rows(self.replies)
        if [row.name for row in rows] != [order.custom_id for order in self.orders]:
            raise DataError(f"{self.replies}: these are not the replies to the study's orders; remove the file")
        drawn = Drawn()
        for row, order in zip(rows, self.orders, strict=True):
            take(drawn, row, partial(as_ordered, order=order, model=self.model))
        drawn.words = (
            f"{len(drawn.blueprints)} blueprints from {len(rows)} replies of {self.model}, {len(drawn.rejects)} "
            "rejected; none has hidden checks (the grade rests on their visible tests alone)"
        )
        return drawn


def as_ordered(row: Row, order: Order, model: str) -> Blueprint:
    """A model's reply as the blueprint that was asked for; its cluster is its bug category. Raises BlueprintError."""
    spec = adopt(replace(row, text=unfenced(row.text)), [])
    found = {"family": spec.family, "bug_category": spec.bug_category, "difficulty": spec.difficulty}
    wanted = {"family": order.family, "bug_category": order.category, "difficulty": order.difficulty}
    for key, value in wanted.items():
        if found[key] != value:
            raise BlueprintError(f"{key}: found {found[key]!r:.40}, {value} was asked for")
    final = parse_turn(spec.final)
    if not final.opens_final or final.finals != 1:
        raise BlueprintError(f"final: found {spec.final!r:.40}, one line that starts with FINAL: is expected")
    origin = {"template": f"llm_{order.category}", "generator": f"llm {model}", "seed": order.seed}
    return spec.model_copy(update={**origin, "bug_kind": "", "hidden_checks": []})


def unfenced(text: str) -> str:
    """A reply without the Markdown fence that models like to put around JSON."""
    found = _FENCE.fullmatch(text)
    return found[1] if found else text


def _lines_there(dataset: Dataset) -> str:
    names = [name for name in dataset.names if name.endswith(".jsonl")]
    more = ", …" if len(names) > SHOWN else ""
    return f"; its JSONL files are {', '.join(names[:SHOWN])}{more}" if names else "; it has no JSONL file"


def adopt(row: Row, families: Families) -> Blueprint:
    """A spec of others as a blueprint of ours. Raises BlueprintError.

    Its case id is the published one (`custom_id` and the spec's own, or the folder's name, as an identifier); its
    template what is recorded, or its name family, or itself. A patch that no call line can say could never be shown, so
    it is refused.
    """
    spec = row.blueprint()
    case_id = row.case_id or identifier(row.prefix, spec.case_id)
    for number, step in enumerate(spec.steps, 1):
        if step.tool == "apply_patch":
            try:
                format_call(step.tool, "c1", {"find": step.find or "", "replace": step.replace or ""})
            except ValueError as problem:
                raise BlueprintError(f"step {number}: {problem}") from problem
    return spec.model_copy(update={"case_id": case_id, "template": spec.template or template_of(case_id, families)})


def collect(sources: Iterable[Source], root_seed: int) -> Drawn:
    """What all sources give, in their order; a case id that an earlier one has is rejected."""
    found = Drawn()
    words, seen = [], set[str]()
    for source in sources:
        drawn = source.draw(root_seed)
        for item in drawn.blueprints:
            if item.case_id in seen:
                error = f"{item.case_id}: this id was used before; ids must be unique over all sources"
                drawn.rejects.append(Reject(case_id=item.case_id, step=0, errors=[error]))
            else:
                found.blueprints.append(item)
            seen.add(item.case_id)
        found.rejects += drawn.rejects
        words.append(drawn.words)
    found.words = "\n".join(words)
    return found
