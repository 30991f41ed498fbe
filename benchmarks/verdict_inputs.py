"""What the verdict benchmark judges: states of the held-out cases' crates, and the rollouts of a pass@8 evaluation.

Both come from a study's results where they lie there; on a clean clone both are made with the study's own seeds.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from tiebreak import tables
from tiebreak.domains.rust import traces
from tiebreak.domains.rust.asks import Ask, Verdict
from tiebreak.domains.rust.blueprints import Blueprint, Step, load_blueprints
from tiebreak.domains.rust.episode import Judge, RustEpisode, answer, prompt
from tiebreak.domains.rust.generator import generate
from tiebreak.errors import ConfigError
from tiebreak.paths import Paths
from tiebreak.seeds import derive, stream
from tiebreak.splits import split
from tiebreak.study import Study

# How a small agent's rollouts repeat themselves: over 17 evaluations of a laptop study (6 runs, 1,024 rollouts each,
# November 2026) a rollout made 0.84 cargo calls, of which 69 % were about the crate as it was given and 30 % about a
# state that no earlier call of its evaluation had. The model below gives 0.86, 70 % and 32 %.
NO_CALL, UNTOUCHED = 0.22, 0.55  # shares of rollouts; the others patch, and follow the case's plan with mistakes,
OWN_WAY, DETOURS = 0.2, 0.2  # as other rollouts of the case do or in a way of their own
MODELLED = 3  # repetitions
ANY = 99  # turns with calls: no bound
UNSEEN = Verdict(False, False, "", "", compiled=False, phase=0)


@dataclass(frozen=True)
class Script:
    """A rollout to be played again: its case and the assistant's turns that were acted on, in order."""

    case: Blueprint
    turns: tuple[str, ...]


def held_out(study: Study, paths: Paths) -> tuple[list[Blueprint], str]:
    """The held-out cases, and in words where they are from.

    Made here, they are the study's own as long as none of its blueprints is rejected.
    """
    if paths.splits.is_file() and paths.cases.is_file():
        cases, ids = load_blueprints(paths.cases), json.loads(paths.splits.read_text(encoding="utf-8"))
        where = str(paths.cases)
    else:
        wanted = study.data.source.generate
        if wanted is None:
            raise ConfigError(
                f"{paths.cases}: is not there, and the study {study.name} imports its cases; make it first"
            )
        cases = generate(wanted.templates, wanted.cases, study.root_seed)
        ids, where = split(cases, study.data.splits, study.root_seed), f"the generator, seed {study.root_seed}"
    by_id = {case.case_id: case for case in cases}
    return [by_id[name] for name in ids["holdout"]], where


def crate_states(cases: Sequence[Blueprint], seed: int) -> list[Ask]:
    """The distinct states that good and bad rollouts pass through: pristine crates, wrong and broken patches, fixes."""
    found: dict[Ask, None] = {}
    for case in cases:
        found[Ask.of(case.cargo_tool, case.files)] = None
        found |= dict.fromkeys(asks_of([planned(case, stream(seed, "states", case.case_id), 1.0)]))
    states = list(found)
    stream(seed, "states").shuffle(states)
    return states


def planned(case: Blueprint, rng: Random, detours: float) -> Script:
    """A rollout that follows the case's plan, with the mistakes that training traces show."""
    actions = traces.planned(case, rng, detours)
    return Script(case, tuple(traces.content(case, action, number) for number, action in enumerate(actions, 1)))


def workloads(study: Study, paths: Paths, cases: Sequence[Blueprint]) -> tuple[dict[str, list[Script]], str]:
    """The rollouts of one repetition of each run by the run's name, and in words where they are from.

    They are the study's first evaluations, or drawn from the model of repeats where there are none.
    """
    stored = {path.parent.parent.name: path for path in sorted(paths.root.glob("evals/*/rep*/rollouts.parquet"))[::-1]}
    if stored:
        return {run: stored_scripts(path, cases) for run, path in sorted(stored.items())}, f"{paths.root}/evals"
    samples = [(case, sample) for case in cases for sample in range(study.evaluation.k)]
    return {
        f"model {number}": [
            modelled(case, sample, derive(study.root_seed, "model", number)) for case, sample in samples
        ]
        for number in range(MODELLED)
    }, "the model of repeats in verdict_inputs.py"


def stored_scripts(path: Path, cases: Sequence[Blueprint]) -> list[Script]:
    """The stored rollouts of `cases`; a turn that a token limit cut was never acted on and is left out."""
    by_id = {case.case_id: case for case in cases}
    found = []
    for row in tables.read_table(path, ["case_id", "sample", "turns", "stop"]).to_pylist():
        turns = [turn["content"] for turn in row["turns"] if turn["role"] == "assistant"]
        acted = turns[:-1] if row["stop"] == "tokens" else turns
        found.append(Script(by_id[row["case_id"]], tuple(acted)))
    return found


def modelled(case: Blueprint, sample: int, seed: int) -> Script:
    """A rollout drawn from the model of repeats."""
    rng = stream(seed, "rollout", case.case_id, sample)
    kind = rng.random()
    if kind < NO_CALL:
        return Script(case, ())
    if kind < NO_CALL + UNTOUCHED:
        call = traces.Action(Step(tool=case.cargo_tool, expect_status="success"), True)
        return Script(case, (traces.content(case, call, 1),))
    way = (sample,) if rng.random() < OWN_WAY else ()
    return planned(case, stream(seed, "way", case.case_id, *way), DETOURS)


def replay(judge: Judge, block: Sequence[Script], rounds: int) -> list[RustEpisode]:
    """Play the scripts of a block in step, as an evaluation does; the episodes at their ends."""
    episodes = [RustEpisode(script.case, prompt(script.case), tool_rounds=rounds) for script in block]
    for place in range(max((len(script.turns) for script in block), default=0)):
        for episode, script in zip(episodes, block, strict=True):
            if place < len(script.turns) and episode.stop is None:
                episode.act(script.turns[place])
        answer(judge, episodes)
    return episodes


def asks_of(block: Sequence[Script], rounds: int = ANY) -> list[Ask]:
    """All that the scripts ask, with repeats; nothing is compiled for it."""
    seen: list[Ask] = []

    def note(asks: Sequence[Ask]) -> list[Verdict]:
        seen.extend(asks)
        return [UNSEEN] * len(asks)

    replay(note, block, rounds)
    return seen


def blocks(items: Sequence[Script], size: int) -> Iterable[Sequence[Script]]:
    """The scripts in the blocks that an evaluation plays together."""
    return (items[start : start + size] for start in range(0, len(items), size))
