"""Stored rollouts, played again in the sandbox: the model's turns as stored, all else anew.

Every reply, how it stopped, outcomes, facts, rewards and the grade must come out as they are stored. Only what the
model wrote is taken as it stands; who wrote it shows a rerun (`publish.rerun`).
"""

import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, islice
from operator import attrgetter
from typing import Any

import pyarrow.parquet as pq
from tqdm import tqdm

from tiebreak.audits.stored import json_lines
from tiebreak.chat import Message
from tiebreak.domains.base import Domain, Episode, number_of_calls
from tiebreak.paths import parse_run
from tiebreak.publish.check_rollouts import Field, rows, sampled
from tiebreak.publish.context import Context
from tiebreak.publish.verdicts import Difference, Verdict, differs
from tiebreak.seeds import stream

BATCH = 256
SEEDS, CONFIDENCE = 10**9, 0.95
PROMPT_TOKENS = "prompt_tokens"
Place = Mapping[str, Any]


@dataclass(frozen=True)
class Told:
    """A stored rollout: where it stands, its case, its conversation, how it stopped, what it came to.

    outcome: the fields that must come out again; rewards by shape; terms of one shape where they are stored. calls: the
    budget of calls that it was sampled under, None for the toolbox's own.
    """

    file: str
    place: Place
    case_id: str
    turns: Sequence[Mapping[str, Any]]
    tool_rounds: int
    stop: str
    outcome: Mapping[str, Any]
    rewards: Mapping[str, float | None]
    terms: Mapping[str, Mapping[str, float]]
    calls: int | None = None

    @property
    def opening(self) -> int:
        """How many turns the prompt has."""
        return next((place for place, turn in enumerate(self.turns) if turn["role"] == "assistant"), len(self.turns))


def check_grades(context: Context, wanted: int | None, seed: int | None = None) -> Iterator[Verdict]:
    """Play rollouts again: all (None), or as many as `wanted`, drawn with `seed` (None: with one that nobody knew)."""
    total = number_of(context)
    picked: range | frozenset[int] = range(total)
    if wanted is not None and wanted < total:
        seed = secrets.randbelow(SEEDS) if seed is None else seed
        picked = pick(seed, total, wanted)
        yield Verdict("sample to play again", "noted", f"drawn with seed {seed}; --seed {seed} draws the same", wanted)
    count, lost, broken, verdict = 0, 0, 0, None
    with tqdm(total=len(picked), desc="played again", unit="rollout", mininterval=1) as bar:
        for batch in batches(told for place, told in enumerate(stored(context)) if place in picked):
            again = [told for told in batch if not needs_policy(context, told)]
            if (difference := first_difference(context, again)) is not None:
                verdict = differs("rollouts played again", difference, count)
                break
            count, lost = count + len(again), lost + len(batch) - len(again)
            broken += sum(told.stop == "error" for told in again)
            bar.update(len(batch))
    of = f"of {total} stored, evaluations, probes and trainings"
    of += f"; {broken} ended in an error, as far as they go" if broken else ""
    of += f"; {lost} cannot be: the policy itself answered their calls" if lost else ""
    of += f"; {ruled_out(count)}" if len(picked) < total else ""
    yield verdict or Verdict("rollouts played again", "bit-exact", f"replies, outcomes, rewards, grades; {of}", count)


def needs_policy(context: Context, told: Told) -> bool:
    """Whether a rollout's tools were answered by the model that plays, which nothing here can repeat."""
    if context.parts["toolbox"].get("responder") != "policy":
        return False
    facts = told.outcome.get("facts")
    return facts is None or bool(facts.get("calls"))


def number_of(context: Context) -> int:
    """How many rollouts are stored."""
    trainings = (json_lines(context.paths.groups(run)) for run in context.study.trained_runs)
    tables = sum(pq.read_metadata(plan.path).num_rows for plan in sampled(context))
    return tables + sum(len(group["turns"]) for groups in trainings for group in groups)


def pick(seed: int, total: int, wanted: int) -> frozenset[int]:
    """A random sample of places. The seed must not come from the release: who forges it would choose the sample."""
    return frozenset(stream(seed, "regrade").sample(range(total), wanted))


def ruled_out(clean: int) -> str:
    """What a random sample without a difference says of all: if a share s differed, it came out so with (1 - s)^n."""
    if not clean:
        return "none was played, which rules nothing out"
    share = 1 - (1 - CONFIDENCE) ** (1 / clean)
    return f"a random sample without a difference: fewer than {share:.2%} of all differ, at {CONFIDENCE:.0%} confidence"


def batches(items: Iterable[Told]) -> Iterator[list[Told]]:
    """The rollouts in lists of BATCH."""
    iterator = iter(items)
    while batch := list(islice(iterator, BATCH)):
        yield batch


def stored(context: Context) -> Iterator[Told]:
    """Every stored rollout of the study."""
    for plan in sampled(context):
        for row in rows(plan.path):
            place = {"run": plan.run, "repetition": plan.repetition, "case": row["case_id"], "sample": row["sample"]}
            outcome = {name: row[name] for name in ("valid", "success", "graded", "facts")}
            shared = (
                context.named(plan.path),
                place,
                row["case_id"],
                row["turns"],
                plan.tool_rounds,
                row["stop"],
                outcome,
            )
            yield Told(
                *shared, dict(row["rewards"]), {}, (row["facts"] or {}).get("most_calls") if plan.budgets else None
            )
    for run in context.study.trained_runs:
        path = context.paths.groups(run)
        for group in json_lines(path):
            yield from trained(context, context.named(path), run, group)


def trained(context: Context, file: str, run: str, group: Mapping[str, Any]) -> Iterator[Told]:
    """The rollouts of a training's group. Where rewards depend on the prompt's tokens, which groups do not hold, their
    rewards are not computed again.
    """
    arm, rounds = parse_run(run)[0], context.study.rlvr.tool_rounds
    paid = context.domain.facts.get_field_index(PROMPT_TOKENS) < 0
    for sample, turns in enumerate(group["turns"]):
        place = {"run": run, "step": group["step"], "group": group["group"], "case": group["case_id"], "sample": sample}
        outcome = {name: group[name][sample] for name in ("valid", "success", "graded", "calls") if name in group}
        shared = (file, place, group["case_id"], turns, rounds, group["stop"][sample], outcome)
        rewards, terms = (({arm: group[name][sample]} if paid else {}) for name in ("rewards", "terms"))
        yield Told(*shared, rewards, terms)


def first_difference(context: Context, batch: Sequence[Told]) -> Difference | None:
    """The first field of these rollouts that comes out otherwise."""
    for calls, part in groupby(batch, attrgetter("calls")):
        alike = list(part)
        domain = context.domain if calls is None else context.domains_by_calls[calls]
        episodes = play_again(domain, context.cases, alike)
        outcomes, grades = domain.outcomes(episodes), domain.grades(episodes)
        for told, episode, outcome, graded in zip(alike, episodes, outcomes, grades, strict=True):
            anew = dict(outcome) | {"graded": graded, "calls": number_of_calls(outcome["facts"])}
            for field, found, right in apart(context, told, episode, anew):
                return Difference(told.file, field, found, right, told.place)
    return None


def apart(context: Context, told: Told, episode: Episode, anew: Mapping[str, Any]) -> Iterator[Field]:
    """The fields of a rollout that came out otherwise: stored, then anew.

    One in error has no outcome: its turns must come out as far as they go, and must not end it by themselves.
    """
    for number, (one, other) in enumerate(zip(told.turns, padded(episode.messages, len(told.turns)), strict=False)):
        for name in ("role", "content"):
            if one[name] != other[name]:
                yield f"turns[{number}].{name}", one[name], other[name]
    if told.stop != anew["stop"]:
        yield "stop", told.stop, anew["stop"]
    if told.stop == "error":
        return
    if len(episode.messages) != len(told.turns):
        yield "turns", len(told.turns), len(episode.messages)
    for name, value in told.outcome.items():
        right = plain(context, anew[name]) if name == "facts" else anew[name]
        if value != right:
            yield name, value, right
    for shape, value in told.rewards.items():
        if value is None or abs(value - anew["rewards"][shape]) >= 1e-9:
            yield f"rewards.{shape}", value, anew["rewards"][shape]
    for shape, terms in told.terms.items():
        if dict(terms) != (paid := dict(context.domain.terms(episode, shape))):
            yield f"terms.{shape}", dict(terms), paid


def plain(context: Context, facts: Any) -> Any:
    """Facts as a table gives them back."""
    import pyarrow as pa

    return pa.array([facts], context.domain.facts).to_pylist()[0]


def padded(messages: Sequence[Message], length: int) -> list[Message]:
    """Messages, and empty ones where more are stored."""
    return [*messages, *[Message(role="", content="")] * (length - len(messages))]


def play_again(domain: Domain, cases: Mapping[str, Any], batch: Sequence[Told]) -> list[Episode]:
    """The episodes of stored rollouts, the model's turns said again, in step."""
    episodes = [start(domain, cases, told) for told in batch]
    said = [iter(own_turns(told)) for told in batch]
    live = list(range(len(batch)))
    while live:
        for row in live:
            say(episodes[row], batch[row], next(said[row], None))
        live = [row for row in live if episodes[row].stop is None]
        domain.answer([episodes[row] for row in live])
        live = [row for row in live if episodes[row].stop is None]
    return episodes


def start(domain: Domain, cases: Mapping[str, Any], told: Told) -> Episode:
    """A fresh episode after the stored prompt."""
    opening = [Message(role=turn["role"], content=turn["content"]) for turn in told.turns[: told.opening]]
    episode = domain.episode(cases[told.case_id], opening, tool_rounds=told.tool_rounds)
    episode.recall(told.outcome.get("facts") or {})
    return episode


def own_turns(told: Told) -> list[tuple[str, int, bool]]:
    """The model's turns: text, tokens that it wrote up to there, and whether a limit cut this one."""
    own = [turn for turn in told.turns if turn["role"] == "assistant"]
    total, found = 0, []
    for number, turn in enumerate(own, 1):
        total += turn.get("tokens") or 0
        found.append((turn["content"], total, told.stop == "tokens" and number == len(own)))
    return found


def say(episode: Episode, told: Told, turn: tuple[str, int, bool] | None) -> None:
    """Say a stored turn; a conversation that has none left, though its episode goes on, was cut."""
    if turn is None:
        episode.halt("error")
        return
    text, tokens, cut = turn
    if cut:
        episode.messages.append({"role": "assistant", "content": text})
        episode.halt("tokens")
    else:
        episode.act(text)
    episode.count((told.outcome.get("facts") or {}).get(PROMPT_TOKENS, 1), max(tokens, 1))
