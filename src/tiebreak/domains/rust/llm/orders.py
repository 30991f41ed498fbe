"""What is ordered of a language model: one spec a request, of every family, bug category and difficulty its share."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from tiebreak.domains.words import pick
from tiebreak.seeds import derive, stream

CATEGORIES: Mapping[str, str] = {
    "sorting_ranking_tiebreaks": "an order or a ranking: the wrong key, direction, or rule for ties",
    "aggregation_reporting": "a sum, count, average or report over records: what is counted, grouped or printed",
    "parsing_validation": "reading text into values, or refusing bad input: a missing check, a wrong bound or error",
    "state_transitions": "a machine of states and events: a transition that is missing, wrong or allowed too early",
    "iterator_filter_map_logic": "a chain of iterator adapters: a wrong filter, an adapter too many, a lost element",
    "match_enum_branch_logic": "a match over an enum or ranges: swapped arms, a wrong guard, a case that falls through",
    "config_merge_precedence": "settings from several places: which one wins, and what a missing one falls back to",
    "interval_overlap_booking": "intervals and bookings: touching ends, containment, overlap, a bound off by one",
    "compiler_type": "the crate does not compile: a type error (a wrong type, a missing conversion, a wrong bound)",
    "compiler_borrow": "the crate does not compile: a borrow error (use after a move, two borrows that conflict)",
    "compiler_lifetime": "the crate does not compile: a lifetime error (a reference that outlives what it borrows)",
}
"""The published bug categories, and the phases of the compiler, each with what it means."""

FAILURES = (1, 1, 1, 2, 2, 3)
SEED_BITS = 31  # what endpoints take as a seed differs; this many bits every one of them takes


@dataclass(frozen=True)
class Order:
    """One spec to ask for. failures: wrong attempts before the right one, 0 outside the recover families."""

    custom_id: str
    family: str
    category: str
    difficulty: str
    failures: int
    subject: str
    seed: int

    @property
    def runs(self) -> bool:
        """Whether the crate is a program that `cargo_run` runs."""
        return "run" in self.family

    @property
    def source_path(self) -> str:
        """The one source file."""
        return "src/main.rs" if self.runs else "src/lib.rs"

    @property
    def cargo_tool(self) -> str:
        """The cargo call of the family."""
        return "cargo_run" if self.runs else "cargo_test"

    @property
    def tools(self) -> list[str]:
        """The tools of its steps, in order."""
        if not self.family.startswith("patch"):
            return [self.cargo_tool]
        return ["read_file", "apply_patch", self.cargo_tool] * (self.failures + 1)


Kind = tuple[str, str, str]


def kinds(families: Sequence[str], categories: Sequence[str], difficulties: Sequence[str]) -> list[Kind]:
    """All (family, category, difficulty) that make sense: where nothing is to repair, the crate compiles."""
    return [
        kind
        for kind in product(families, categories, difficulties)
        if kind[0].startswith("patch") or not kind[1].startswith("compiler_")
    ]


def orders(
    families: Sequence[str], categories: Sequence[str], difficulties: Sequence[str], cases: int, root_seed: int
) -> list[Order]:
    """The first `cases` orders of an endless list: passes over all kinds, each in a seeded order of its own.

    So more cases are the same orders and further ones behind them.
    """
    every = kinds(families, categories, difficulties)
    found: list[Order] = []
    for start in range(0, cases, len(every)):
        turn = list(every)
        stream(root_seed, "llm", "order", start // len(every)).shuffle(turn)
        found += [_order(start + place, *kind, root_seed) for place, kind in enumerate(turn)]
    return found[:cases]


def _order(index: int, family: str, category: str, difficulty: str, root_seed: int) -> Order:
    rng = stream(root_seed, "llm", "subject", index)
    failures = rng.choice(FAILURES) if family.endswith("recover") else 0
    subject = f"{pick(rng, 'adjectives')} {pick(rng, 'things')} at a {pick(rng, 'places')}"
    seed = derive(root_seed, "llm", "sampling", index) % (1 << SEED_BITS)
    return Order(f"llm-{index:06d}-{family}", family, category, difficulty, failures, subject, seed)
