"""The package `environments/glyph`, and rollouts through it in both generations of `verifiers`. The latter need

    ./dev pytest tests/environments --verifiers-01=PYTHON --verifiers-04=PYTHON

Pythons with what requirements/verifiers-01.txt and -04.txt say (docs/glyph.md has the commands). A local server plays
the endpoint: a script, hostile turns among it, or a tiny model with real tokens.
"""

import inspect
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from environments.hostile import HOSTILE, turns
from environments.reference import judged, shown
from environments.server import CUT, MODEL, OVERLONG, Server, serving

from tiebreak.domains.rust.blueprints import dump_blueprints
from tiebreak.domains.rust.domain import RustDomain
from tiebreak.domains.rust.rewards import PUBLISHED_TABLES
from tiebreak.domains.rust.toolbox import project_root
from tiebreak.domains.rust.verdicts import Judge
from tiebreak.engines.base import Sampling
from tiebreak.engines.hf import HfEngine
from tiebreak.environment import request_seed
from tiebreak.rollout import Attempt, play
from tiebreak.seeds import stream
from tiebreak.study import load
from tiebreak.training.prime_rl.config import of_study, orchestrator
from tiebreak.training.prime_rl.rollouts import group

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "environments" / "glyph"
ARM = "dense"
SEED = 5


@pytest.fixture(scope="module")
def package() -> Iterator[ModuleType]:
    """`glyph`, where no verifiers is installed."""
    sys.path.insert(0, str(PACKAGE))
    import glyph

    yield glyph
    sys.path.remove(str(PACKAGE))
    sys.modules.pop("glyph")


def test_it_takes_what_prime_rl_gives(package: ModuleType) -> None:
    (entry,) = orchestrator(of_study(load("glyph", ROOT), "dense", 0)).train.env
    assert entry.id == package.__name__
    parameters = inspect.signature(package.load_environment).parameters
    assert set(entry.args) == set(parameters)
    assert all(parameter.default is not inspect.Parameter.empty for parameter in parameters.values())


def test_it_needs_no_verifiers_before_it_is_used(package: ModuleType) -> None:
    assert "verifiers" not in sys.modules
    assert not hasattr(package, "nothing")
    with pytest.raises(ModuleNotFoundError, match="verifiers"):
        package.load_environment()
    with pytest.raises(ModuleNotFoundError, match="verifiers"):
        _ = package.GlyphTaskset


@pytest.fixture(scope="module", params=["01", "04"])
def generation(request: pytest.FixtureRequest) -> tuple[str, str]:
    """A generation of verifiers, and its Python."""
    python = request.config.getoption(f"--verifiers-{request.param}")
    if python is None:
        pytest.skip(f"needs a Python with verifiers: --verifiers-{request.param} PYTHON")
    return request.param, str(Path(python).absolute())


@pytest.fixture(scope="module")
def engine(model_folder: Path) -> HfEngine:
    """A tiny model with random weights."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    model = AutoModelForCausalLM.from_pretrained(model_folder)
    return HfEngine(model, AutoTokenizer.from_pretrained(model_folder), Sampling(1.0, 32, 600))


@pytest.fixture(scope="module")
def domain() -> RustDomain:
    return RustDomain(Judge(None), PUBLISHED_TABLES)


def rollouts(
    generation: tuple[str, str],
    server: Server,
    cases: list[Any],
    folder: Path,
    samples: int,
    *,
    seconds: float = 0,
    **changes: Any,
) -> list[dict[str, Any]]:
    """Rollouts of all cases, in the library's own process, as plain data.

    seconds: of wall time that each may take, if any. changes: of the process's environment variables.
    """
    dump_blueprints(folder / "cases.jsonl", cases)
    order: dict[str, Any] = {"url": server.url, "model": MODEL, "rollouts": samples}
    order["arguments"] = {"cases": str(folder / "cases.jsonl"), "arm": ARM, "seed": SEED}
    if seconds:
        order["seconds"] = seconds
    name, python = generation
    done = subprocess.run(
        [python, str(Path(__file__).with_name(f"drive_{name}.py")), str(folder / "out.json")],
        input=json.dumps(order),
        env=os.environ | {"PYTHONPATH": f"{ROOT / 'src'}:{PACKAGE}"} | changes,
        cwd=folder,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    found: list[dict[str, Any]] = json.loads((folder / "out.json").read_text())
    return found


def script_of(domain: RustDomain, cases: list[Any]) -> dict[str, list[str]]:
    """What is said about each case: real repairs, then one hostile conversation each."""
    traces = domain.traces(cases[:3], lambda case: stream(1, case.case_id), 0.5)
    said = [[turn["content"] for turn in trace if turn["role"] == "assistant"] for trace in traces]
    said += [turns(name, case) for name, case in zip(HOSTILE, cases[3:-1], strict=True)]
    said += [[f'CALL read_file {{"id":"a","file_path":"{project_root(cases[-1].case_id)}/src/lib.rs"}}']]
    said[-1].append(OVERLONG)
    return {project_root(case.case_id): texts for case, texts in zip(cases, said, strict=True)}


def test_64_rollouts_started_at_once_are_what_the_domain_says_of_them(
    generation: tuple[str, str], engine: HfEngine, domain: RustDomain, tmp_path: Path
) -> None:
    from tiebreak.domains.rust.generator import generate

    cases = list(generate("all", len(HOSTILE) + 4, 11))
    samples = -(-64 // len(cases))
    script = script_of(domain, cases)
    with serving(Server(engine, script)) as server:
        found = rollouts(generation, server, cases, tmp_path, samples)
    assert len(found) == samples * len(cases) >= 64
    asked = set(server.prompts)
    stops = set()
    for row in found:
        (case,) = (case for case in cases if case.case_id == row["info"]["case_id"])
        said = [turn.partition(CUT) for turn in script[project_root(case.case_id)] if turn != OVERLONG]
        played = [text for text, _, _ in said][: sum(one["role"] == "assistant" for one in row["completion"])]
        cut = bool(said[len(played) - 1][1])
        stop, reward, metrics, messages = judged(domain, ARM, case, played, cut=cut)
        assert row["error"] is None
        kept = messages
        if generation[0] == "04" and not cut and stop == "tokens":  # its trace holds what a request was answered to,
            kept = messages[:-1]  # and the one with these replies was refused for its length
        assert shown([*row["prompt"], *row["completion"]]) == shown(kept)
        assert (row["stop_condition"], row["reward"]) == (stop, reward)
        assert {name: row["metrics"][name] for name in metrics} == metrics
        assert row["info"] == {"case_id": case.case_id, "family": case.family, "template": case.template}
        for end in (n for n, message in enumerate(messages) if message["role"] == "assistant"):
            assert shown(messages[:end]) + "\n\n<|im_start|>assistant\n" in asked, "the bytes that the model read"
        stops.add(stop)
    assert stops == {"final", "malformed", "budget", "tokens"}
    assert sum(row["metrics"]["graded"] for row in found) >= 3 * samples
    if generation[0] == "01":
        by_case = [row for row in found if row["info"]["case_id"] == cases[0].case_id]
        record = group(tmp_path, 1, 0, [row | {"token_usage": {"output_tokens": 1}} for row in by_case])
        assert record["terms"][0] == domain_terms(by_case[0]) and record["stop"] == ["final"] * samples


def domain_terms(row: dict[str, Any]) -> dict[str, float]:
    """The reward's terms of a rollout."""
    return {key.removeprefix("term_"): value for key, value in row["metrics"].items() if key.startswith("term_")}


def test_a_tiny_model_says_the_same_through_either_loop(
    generation: tuple[str, str], engine: HfEngine, domain: RustDomain, cases: list[Any], tmp_path: Path
) -> None:
    with serving(Server(engine)) as server:
        found = rollouts(generation, server, cases, tmp_path, 2)
    attempts = [
        Attempt(case, domain.prompt(case), sample, partial(request_seed, SEED, "MainProcess", case.case_id, sample))
        for case in cases
        for sample in range(2)
    ]
    own = play(engine, domain, attempts, tool_rounds=15)
    expected = sorted(
        (shown(item.episode.messages), item.episode.stop, [len(r.ids) for r in item.replies]) for item in own
    )
    assert (
        sorted((shown([*row["prompt"], *row["completion"]]), row["stop_condition"], row["tokens"]) for row in found)
        == expected
    )
    assert len({text for text, _, _ in expected}) == len(expected), "every rollout has its own seeds"


def test_without_a_sandbox_there_is_an_error_and_no_score(
    generation: tuple[str, str], engine: HfEngine, cases: list[Any], tmp_path: Path
) -> None:
    call = 'CALL cargo_test {"id":"a","project_path":"%s"}'
    script = {project_root(case.case_id): [call % project_root(case.case_id), "FINAL: x"] for case in cases[:2]}
    bare = tmp_path / "bin"
    bare.mkdir()
    with serving(Server(engine, script)) as server:
        found = rollouts(generation, server, cases[:2], tmp_path, 1, PATH=str(bare))
    assert all(row["error"] is not None for row in found) and len(found) == 2
    assert all(not row["metrics"].get("graded") for row in found)


def test_a_server_that_takes_parts_out_of_turns_is_refused(
    generation: tuple[str, str], engine: HfEngine, cases: list[Any], tmp_path: Path
) -> None:
    script = {project_root(case.case_id): ["FINAL: x"] for case in cases[:2]}
    with serving(Server(engine, script, extra={"reasoning_content": "hm"})) as server:
        found = rollouts(generation, server, cases[:2], tmp_path, 1)
    assert all("taken out of the turn" in json.dumps(row["error"]) for row in found)


def test_a_rollout_that_runs_out_of_wall_time_is_an_error_and_no_score(
    generation: tuple[str, str], engine: HfEngine, cases: list[Any], tmp_path: Path
) -> None:
    script = {project_root(case.case_id): ["FINAL: x"] for case in cases[:2]}
    with serving(Server(engine, script, slow=3.0)) as server:
        found = rollouts(generation, server, cases[:2], tmp_path, 1, seconds=1.0)
    assert len(found) == 2 and all("no outcome" in json.dumps(row["error"]) for row in found)
    assert all(not row["reward"] and not row["metrics"].get("valid") for row in found)
