"""The differential test: cargo, rustc alone and batches say the same of crates that generators, agents, people make.

In CI a seeded sample of each source is judged; `./dev pytest tests/domains/rust/test_ways_agree.py --states 500` takes
all of the published states and 500 of the generated ones.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tiebreak.domains.rust import traces
from tiebreak.domains.rust.asks import Ask, Diagnostics, Verdict, Way
from tiebreak.domains.rust.blueprints import Blueprint
from tiebreak.domains.rust.episode import RustEpisode, prompt
from tiebreak.domains.rust.generator import generate
from tiebreak.domains.rust.generator.catalogue import TEMPLATES
from tiebreak.domains.rust.grading import exam
from tiebreak.domains.rust.imports.replay import Trace, read_traces
from tiebreak.domains.rust.verdicts import Judge
from tiebreak.seeds import stream

TRACES = Path(__file__).parents[4] / "shared" / "data" / "glyph" / "heldout_traces.jsonl"
SPECS = TRACES.with_name("specs.jsonl")
SEED = 20261129
UNSEEN = Verdict(False, False, "", "", compiled=False, phase=0)

needs_data = pytest.mark.skipif(not TRACES.is_file(), reason=f"the published data is not there: {TRACES}")


def asks_of(case: Blueprint, contents: Sequence[str]) -> list[Ask]:
    """What the assistant's turns ask, in order; the replies are made up, as they change no file."""
    episode, asks = RustEpisode(case, prompt(case), tool_rounds=99), []
    for content in contents:
        if episode.stop is None:
            episode.act(content)
            asks += episode.pending_asks()
            episode.resume([UNSEEN] * len(episode.pending_asks()))
    return asks


def sample(asks: Sequence[Ask], most: int) -> list[Ask]:
    """At most so many distinct asks, drawn with a seed."""
    distinct = list(dict.fromkeys(asks))
    return stream(SEED, "states").sample(distinct, min(most, len(distinct)))


@cache
def generated_cases(most: int) -> list[Blueprint]:
    """Cases of all templates in turn, so that a few show many templates."""
    by_template: dict[str, list[Blueprint]] = {name: [] for name in TEMPLATES}
    for case in generate("all", max(240, most), SEED):
        by_template[case.template].append(case)
    most_of_one = max(map(len, by_template.values()))
    return [cases[turn] for turn in range(most_of_one) for cases in by_template.values() if turn < len(cases)]


def faulty_states(case: Blueprint) -> list[Ask]:
    """What a trace with mistakes asks about a case."""
    plan = traces.planned(case, stream(SEED, "plan", case.case_id), 1.0)
    return asks_of(case, [traces.content(case, action, number) for number, action in enumerate(plan, 1)])


def generated_states(most: int) -> list[Ask]:
    """Of each case the pristine crate and what a faulty trace passes through: wrong, broken and right patches."""
    found: dict[Ask, None] = {}
    for case in generated_cases(most):
        found |= dict.fromkeys([Ask.of(case.cargo_tool, case.files), *faulty_states(case)])
        if len(found) >= most:
            break
    return list(found)[:most]


def trace_states() -> list[Ask]:
    """The states that the replayable published traces pass through."""
    played = [item for item in read_traces(TRACES) if isinstance(item, Trace)]
    assert len(played) == 61
    return [ask for item in played for ask in asks_of(item.case, item.turns)]


def specs() -> list[dict[str, Any]]:
    """The published specs that are JSON, as {custom_id, text, published_outcome, …} with the spec under `spec`."""
    rows = []
    for row in map(json.loads, SPECS.read_text(encoding="utf-8").splitlines()):
        try:
            rows.append(row | {"spec": json.loads(row["text"])})
        except json.JSONDecodeError:
            continue
    return rows


def spec_states(spec: dict[str, Any]) -> list[tuple[Ask, bool | None]]:
    """The state of each cargo step, with the status that the step expects (of tests only: a run's is its output's)."""
    files, states = dict(spec["files"]), []
    for step in spec["steps"]:
        if step["tool"] == "apply_patch":
            path = step["file_path"]
            files[path] = files.get(path, "").replace(step["find"], step["replace"], 1)
        elif step["tool"] == "cargo_test":
            states.append((Ask.of("cargo_test", files), step["expect_status"] == "success"))
        elif step["tool"] == "cargo_run":
            states.append((Ask.of("cargo_run", files), None))
    return states


def published_states() -> list[Ask]:
    """The states of all specs, accepted or not."""
    rows = specs()
    assert len(rows) == 198
    return [ask for row in rows for ask, _ in spec_states(row["spec"])]


SOURCES = {"generated": generated_states, "traces": lambda _: trace_states(), "specs": lambda _: published_states()}


@pytest.fixture(scope="module", params=SOURCES)
def states(request: pytest.FixtureRequest) -> list[Ask]:
    most = request.config.getoption("--states")
    if request.param != "generated" and not TRACES.is_file():
        pytest.skip(f"the published data is not there: {TRACES}")
    return sample(SOURCES[request.param](most), most)


def judged(asks: Sequence[Ask], way: Way, style: Diagnostics) -> list[Verdict]:
    return Judge(None, way=way, workers=2, diagnostics=style)(asks)


def differences(asks: Sequence[Ask], ways: dict[str, list[Verdict]]) -> list[str]:
    """Where the ways differ, as a person can look at it: the source, then each field in each way."""
    found = []
    for place, ask in enumerate(asks):
        verdicts = {way: asdict(answers[place]) for way, answers in ways.items()}
        fields = [name for name in asdict(UNSEEN) if len({str(verdict[name]) for verdict in verdicts.values()}) > 1]
        if fields:
            lines = [f"{name} by {way}: {verdict[name]!r}" for name in fields for way, verdict in verdicts.items()]
            found.append("\n".join([f"{ask.tool} on {dict(ask.files)}", *lines]))
    return found


def test_all_ways_agree(states: list[Ask]) -> None:
    ways = {way: judged(states, way, "full") for way in ("cargo", "direct", "batch")}
    assert differences(states, ways) == []


def test_direct_and_batch_agree_in_the_short_form(states: list[Ask]) -> None:
    ways = {way: judged(states, way, "short") for way in ("direct", "batch")}
    assert differences(states, ways) == []


def test_exams_agree(request: pytest.FixtureRequest) -> None:
    most = request.config.getoption("--states")
    left = [(case, dict(ask.files)) for case in generated_cases(most)[:most] for ask in faulty_states(case)]
    exams = sample([ask for case, files in left for ask in exam(case, files).asks if ask.tool == "exam"], most)
    ways = {way: judged(exams, way, "full") for way in ("direct", "batch")}
    assert differences(exams, ways) == []
    assert {verdict.compiled for verdict in ways["batch"]} == {True, False}


def test_the_sample_shows_every_outcome(request: pytest.FixtureRequest) -> None:
    states = sample(generated_states(most := request.config.getoption("--states")), most)
    verdicts = judged(states, "batch", "short")
    assert {(verdict.ok, verdict.compiled) for verdict in verdicts} == {(True, True), (False, True), (False, False)}
    assert {2, 3} <= {verdict.phase for verdict in verdicts}


@needs_data
def test_accepted_specs_have_their_published_statuses(request: pytest.FixtureRequest) -> None:
    """A planned failure may also be one to compile; the last state of each spec is a success."""
    rows = [row for row in specs() if row["published_outcome"] == "accepted"][: request.config.getoption("--states")]
    states = [spec_states(row["spec"]) for row in rows]
    verdicts = iter(judged([ask for plan in states for ask, _ in plan], "batch", "full"))
    for plan in states:
        found = [next(verdicts) for _ in plan]
        assert all(expected in (None, verdict.ok) for (_, expected), verdict in zip(plan, found, strict=True))
        assert found[-1].ok
