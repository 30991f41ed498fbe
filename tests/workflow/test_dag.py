"""The real Snakefile, run dry in a copy of the repository: which jobs there are, and what an edit runs again.

A finished study is played by empty outputs that Snakemake is told to take for its own (`--touch`).
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Checkout

STUDY = "config/studies/laptop.yaml"
FIRST_ARM = "  sparse: {}\n"
# The rules that a new arm with two seeds and three repetitions needs, and those that compare all arms.
COMPARISONS = {"arm": 3, "analysis": 1, "audits": 1, "report": 1}
NEW_ARM = COMPARISONS | {"ties": 1, "trial": 2, "rlvr": 2, "probe": 2, "evaluation": 6, "arm": 1}


@pytest.fixture(scope="module")
def finished_once(fresh: Checkout, tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    checkout = fresh.copy_to(tmp_path_factory.mktemp("finished") / "main")
    checkout.pretend_finished()
    return checkout


@pytest.fixture
def finished(finished_once: Checkout) -> Iterator[Checkout]:
    """A copy in which the default study is finished; what a test edits is undone after it."""
    kept = finished_once.folder.with_name(finished_once.folder.name + "-kept")
    names = ("config", "scripts", "src", "requirements")
    for name in names:
        shutil.copytree(finished_once.folder / name, kept / name)
    yield finished_once
    for name in names:
        shutil.rmtree(finished_once.folder / name)
        shutil.move(kept / name, finished_once.folder / name)
    shutil.rmtree(finished_once.folder / "results/laptop/work", ignore_errors=True)


def rules(checkout: Checkout) -> set[str]:
    """The rules of the default study: all but `base`, whose model is checked in, and those that a study asks for."""
    asked = {"base", "prime_rl", "replies", "bands", "budgets", "release", "publish", "shard", "vllm_server"}
    return {path.stem for path in (checkout.folder / "scripts").glob("*.py")} - asked


def test_a_fresh_study_runs_every_rule(fresh: Checkout) -> None:
    once = ["blueprints", "cases", "splits", "leakage", "traces", "tokens", "prompts", "parity", "data_page", "sft"]
    many = {"ties": 3, "trial": 6, "rlvr": 6, "probe": 7, "evaluation": 21}
    jobs = fresh.jobs()
    assert jobs == dict.fromkeys(once, 1) | many | COMPARISONS
    assert set(jobs) == rules(fresh)


@pytest.mark.parametrize(
    ("target", "last"),
    [("data", "data_page"), ("base", "base"), ("sft", "sft"), ("evals", "evaluation"), ("report", "report")],
)
def test_targets_end_at_their_stage(fresh: Checkout, target: str, last: str) -> None:
    order = ["data_page", "base", "sft", "evaluation", "report"]
    jobs = fresh.jobs(target)
    assert last in jobs and not set(order[order.index(last) + 1 :]) & set(jobs)


def test_one_arm_can_be_built_alone(fresh: Checkout) -> None:
    jobs = fresh.jobs("results/laptop/arms/dense/summary.json")
    assert (jobs["rlvr"], jobs["evaluation"], jobs["arm"]) == (2, 6, 1)
    assert "analysis" not in jobs


def test_training_waits_for_the_gates_that_stop_a_study(fresh: Checkout) -> None:
    jobs = fresh.jobs("sft")
    assert jobs["leakage"] == jobs["parity"] == 1


def test_the_minute_study_is_chosen_by_its_path(fresh: Checkout) -> None:
    assert fresh.jobs("--config", "study=config/test/minute.yaml")["rlvr"] == 2


def test_a_finished_study_has_nothing_to_do(finished: Checkout) -> None:
    assert finished.jobs() == {}


def test_a_new_arm_runs_its_own_rules_and_the_comparisons(finished: Checkout) -> None:
    finished.edit(STUDY, FIRST_ARM, FIRST_ARM + "  fourth: {phase: 1.0}\n")
    assert finished.jobs() == NEW_ARM


def test_another_reward_table_runs_its_own_arm_again(finished: Checkout) -> None:
    finished.edit(STUDY, "compiler: {phase: 2.5}", "compiler: {phase: 3.5}")
    assert finished.jobs() == NEW_ARM


def test_more_repetitions_evaluate_and_train_nothing(finished: Checkout) -> None:
    finished.edit(STUDY, "repetitions: 3", "repetitions: 4")
    assert finished.jobs() == COMPARISONS | {"evaluation": 7}


def test_more_training_seeds_train_the_new_ones(finished: Checkout) -> None:
    finished.edit(STUDY, "training_seeds: 2", "training_seeds: 3")
    assert finished.jobs() == COMPARISONS | {"trial": 3, "rlvr": 3, "probe": 3, "evaluation": 9}


def test_another_level_of_the_tests_samples_nothing(finished: Checkout) -> None:
    finished.edit(STUDY, "alpha: 0.05", "alpha: 0.01")
    assert finished.jobs() == COMPARISONS


def test_comments_and_docstrings_run_nothing(finished: Checkout) -> None:
    finished.append("src/tiebreak/splits.py", "\n\n# a comment\n")
    finished.append("scripts/sft.py", "\n# a comment\n")
    finished.edit("src/tiebreak/training/sft.py", '"""', '"""Edited. ')
    finished.append("requirements/project.txt", "# a comment\n")
    assert finished.jobs() == {}


UNTOUCHED = [
    ("stats/passk.py", {"blueprints", "cases", "splits", "base", "sft", "trial", "rlvr", "probe", "evaluation"}),
    ("splits.py", {"blueprints", "cases", "base"}),
    ("training/grpo.py", {"blueprints", "cases", "splits", "traces", "base", "sft", "leakage", "parity", "ties"}),
    ("report/page.py", {"analysis", "arm", "evaluation", "rlvr"}),
]


@pytest.mark.parametrize(("module", "untouched"), UNTOUCHED)
def test_an_edited_module_runs_the_stages_that_reach_it(finished: Checkout, module: str, untouched: set[str]) -> None:
    finished.append(f"src/tiebreak/{module}", "\nEDITED = 1\n")
    jobs = finished.jobs()
    assert "report" in jobs and not untouched & set(jobs)


def test_a_new_version_of_a_locked_package_runs_everything(finished: Checkout) -> None:
    finished.edit("requirements/project.txt", "torch==2.13.0", "torch==2.13.1")
    assert set(finished.jobs()) == rules(finished)


def test_a_dry_run_says_what_it_would_train_again(finished: Checkout) -> None:
    (finished.folder / "results/laptop/work/rlvr-dense-0/finished/0123456789abcdef").mkdir(parents=True)
    finished.edit(STUDY, "tests_passed: 2.0", "tests_passed: 3.0")
    done = finished.snakemake("-n")
    assert "will retrain 1 runs on the CPU" in done.stderr
    assert re.search(r"^  rlvr-dense-0: .*updated by another job: .*decision.json", done.stderr, re.MULTILINE)


def test_training_again_on_gpus_must_be_allowed(finished: Checkout) -> None:
    (finished.folder / "results/laptop/work/sft/finished/0123456789abcdef").mkdir(parents=True)
    finished.edit(STUDY, "  max_length: 1024", "  max_length: 1024\n  device: cuda")
    finished.edit(STUDY, "  trainer: trl", "  trainer: trl\n  lora_rank: 8")
    done = finished.snakemake("--cores", "1", "sft")
    assert done.returncode == 1 and "allow it: --config retrain=true" in done.stderr
    assert (finished.folder / "results/laptop/sft/model").is_dir()


BAD_OPTIONS = [
    (["--config", "study=labtop"], "study 'labtop': not in config/studies"),
    (["--config", "stdy=laptop"], "stdy is an unknown option; known are study, retrain; did you mean study?"),
    (["--config", "retrain=perhaps"], "retrain is 'perhaps'; true or false is expected"),
    (["results/laptop/arms/dens/summary.json"], "study laptop has no arm dens"),
]


@pytest.mark.parametrize(("options", "message"), BAD_OPTIONS)
def test_a_wrong_option_is_one_clear_error(fresh: Checkout, options: list[str], message: str) -> None:
    done = fresh.snakemake("-n", *options)
    assert done.returncode == 1
    errors = [line for line in done.stderr.splitlines() if line.startswith("tiebreak: ")]
    assert len(errors) == 1 and message in errors[0] and "Traceback" not in done.stderr


def test_a_wrong_study_file_stops_a_dry_run(fresh: Checkout, tmp_path: Path) -> None:
    text = (fresh.folder / STUDY).read_text().replace("repetitions: 3", "repetitions: 0")
    (tmp_path / "mine.yaml").write_text(text)
    done = fresh.snakemake("-n", "--config", f"study={tmp_path}/mine.yaml")
    assert done.returncode == 1
    assert f"tiebreak: {tmp_path}/mine.yaml: evaluation.repetitions is 0 (whole number)" in done.stderr


@pytest.mark.parametrize(("lacking", "message"), [("cargo", "no usable cargo"), ("bwrap", "bubblewrap")])
def test_a_machine_without_a_tool_is_refused_before_the_first_job(
    fresh: Checkout, tmp_path: Path, lacking: str, message: str
) -> None:
    for tool in ("bash", "sh", "env", "which", "git", "cc", "rustc", "cargo", "bwrap", "true"):
        found = shutil.which(tool)
        if found and tool != lacking:
            (tmp_path / tool).symlink_to(found)
    target = ["results/laptop/data/cases.jsonl", "--cores", "1"]
    done = fresh.snakemake(*target, path=str(tmp_path))
    assert done.returncode == 1
    assert message in done.stderr.partition("tiebreak: ")[2] and "Traceback" not in done.stderr
    assert not (fresh.folder / "results").exists()
    assert fresh.snakemake("-n", *target, path=str(tmp_path)).returncode == 0


def test_snakemakes_own_linters_are_content(fresh: Checkout) -> None:
    lint = fresh.snakemake("--lint")
    assert lint.returncode == 0, lint.stdout + lint.stderr
    files = ["Snakefile", *map(str, sorted((fresh.folder / "rules").glob("*.smk")))]
    command = [str(Path(sys.executable).with_name("snakefmt")), "--check", *files]
    formatted = subprocess.run(command, cwd=fresh.folder, capture_output=True, text=True)
    assert formatted.returncode == 0, formatted.stderr


def test_no_script_hides_a_package() -> None:
    """Snakemake puts the scripts' folder on the path of a job, where `import vllm` would find a scripts/vllm.py."""
    installed = {*packages_distributions(), "vllm", "verifiers", "openenv", "deepspeed", "unsloth"}
    names = {path.stem for path in (Path(__file__).parents[2] / "scripts").glob("*.py")}
    assert not names & (installed | sys.stdlib_module_names)


def test_no_rule_has_a_lambda_and_no_file_but_common_a_function(fresh: Checkout) -> None:
    files = [fresh.folder / "Snakefile", *(fresh.folder / "rules").glob("*.smk")]
    assert [path.name for path in files if "lambda" in path.read_text()] == []
    assert [path.name for path in files if re.search(r"^def ", path.read_text(), re.MULTILINE)] == ["common.smk"]


def test_every_rule_says_what_it_takes(fresh: Checkout) -> None:
    needed = ("log:", "benchmark:", "threads:", "mem_mb=", "runtime=", "gpu=", "code=", "toolchain=", "study=")
    for path in (fresh.folder / "rules").glob("*.smk"):
        for rule in re.split(r"^rule ", path.read_text(), flags=re.MULTILINE)[1:]:
            # the one toolchain that vLLM depends on is its own, and that lock's digest stands in its output's name
            asked = [word for word in needed if (rule.startswith("vllm_server:"), word) != (True, "toolchain=")]
            assert [word for word in asked if word not in rule] == [], f"{path.name}: {rule.splitlines()[0]}"
