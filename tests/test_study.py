import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import BaseModel
from study_files import refused

from tiebreak.errors import ConfigError
from tiebreak.study import SCHEMA, FathomStudy, Study, load, schema

ROOT = Path(__file__).parents[1]
LAPTOP: dict[str, Any] = yaml.safe_load((ROOT / "config/studies/laptop.yaml").read_text())


def changed(place: str, value: Any) -> str:
    """The laptop study with one value changed (`...` removes it)."""
    study = copy.deepcopy(LAPTOP)
    *folders, key = place.split(".")
    section = study
    for name in folders:
        section = section.setdefault(name, {})
    if value is ...:
        del section[key]
    else:
        section[key] = value
    return yaml.safe_dump(study)


WRONG = [
    ("evaluation.repetitions", 0, "evaluation.repetitions is 0 (whole number); 1 or more is expected"),
    ("arms.dense.tests_passed", "2,0", 'arms.dense.tests_passed is "2,0" (string); a number is expected'),
    ("arms.dense.tests_passed", "2.0", 'arms.dense.tests_passed is "2.0" (string); a number is expected'),
    ("arms.dense.test_passed", 2.0, "arms.dense.test_passed is an unknown key; known here are compiled, tests_passed"),
    ("arms.dense.test_passed", 2.0, "did you mean tests_passed?"),
    ("arms", {}, "arms is {} (mapping); at least 1 entry is expected"),
    ("arms", None, "arms is null (nothing); a mapping is expected"),
    ("arms", ..., "arms is missing; it is needed (the reward shapes under test"),
    ("arms.sparse", None, "arms.sparse is null (nothing); a mapping is expected"),
    ("arms.sft", {}, "arms: sft is the arm that trains no further"),
    ("arms.Dense", {}, "holds the name 'Dense'; a text that fits"),
    ("arms.dense.faults", ["typo"], "arms.dense.faults.0 is \"typo\" (string); 'drifted_prompt' is expected"),
    ("arms.dense.phase", float("nan"), "arms.dense.phase is NaN (number); a finite number is expected"),
    ("evaluation.k", "8", 'evaluation.k is "8" (string); a whole number is expected'),
    ("evaluation.k", True, "evaluation.k is true (true or false); a whole number is expected"),
    ("evaluation.temperature", 0, "evaluation.temperature is 0 (whole number); a number over 0"),
    ("rlvr.group", 1, "rlvr.group is 1 (whole number); 2 or more is expected"),
    ("rlvr.trial.steps", 99, "rlvr: trial.steps is 99, steps is 20; a trial cannot be longer"),
    (
        "rlvr.pool",
        {"bands": {"never": 0, "sometimes": 0.0, "always": 0.0}},
        "rlvr.pool.bands: never, sometimes and always are all 0, so no prompt would be shown; give one a weight",
    ),
    (
        "rlvr.pool",
        {"bands": {"never": 1e-9, "sometimes": 1, "always": 1}},
        "rlvr.pool.bands: never is 1e-09; 0, or 0.01 and more",
    ),
    ("rlvr.pool", {"bands": {"never": 1.0, "sometimes": 2.0}}, "rlvr.pool.bands.always is missing; it is needed"),
    (
        "data.source.llm",
        {"endpoint": "x", "model": "m", "cases": 1},
        "data.source.llm.endpoint: an address is expected",
    ),
    (
        "data.source.llm",
        {"endpoint": "https://me:secret@host/v1", "model": "m", "cases": 1},
        "data.source.llm.endpoint: an address without user, query and fragment is expected; a key goes into",
    ),
    (
        "data.source.llm",
        {"endpoint": "http://h/v1", "model": "m", "cases": 1, "key_variable": "sk-secret"},
        "data.source.llm.key_variable: the name of an environment variable in capitals is expected",
    ),
    (
        "data.source.llm",
        {"endpoint": "http://h/v1", "model": "m", "cases": 1, "families": ["patch"]},
        "data.source.llm.families: there is no patch; known are patch_test_pass, ",
    ),
    (
        "data.source.llm",
        {
            "endpoint": "http://h/v1",
            "model": "m",
            "cases": 1,
            "families": ["run_only"],
            "categories": ["compiler_type"],
        },
        "data.source.llm: families run_only have nothing to repair, and every category is one of crates that do not",
    ),
    ("probe.prompts", 5000, "probe.prompts is 5000, data.splits.pool is 64"),
    ("data.splits.sft", 13000, "data: splits ask for 13192 cases, the cases of data.source are 6400 in all"),
    (
        "data.source",
        {},
        "data.source: no source is named; write generate: {cases: …}, import: {dataset: …} or llm",
    ),
    (
        "data.source.imports",
        {"dataset": "."},
        "data.source.imports is an unknown key; known here are generate, import, llm; did",
    ),
    (
        "data.source.import",
        {"datset": "."},
        "data.source.import.datset is an unknown key; known here are dataset, revision",
    ),
    (
        "data.source.import",
        {"dataset": "a/b"},
        "data.source.import: dataset a/b is no folder here, so it is a dataset of",
    ),
    (
        "data.source.import",
        {"dataset": "a/b/c"},
        "dataset a/b/c is no folder here, and no name of a hub dataset (OWNER/",
    ),
    ("data.source.import", {"dataset": "a/b", "revision": "main"}, 'revision is "main" (string); a text that fits'),
    ("data.source.import", {"dataset": ".", "specs": "../x.jsonl"}, "specs ../x.jsonl leads out of the dataset"),
    ("data.source.generate.templates", "some", 'is "some" (string); none of what may stand here (the templates'),
    (
        "model.base",
        "Qwen/Qwen3-4B-Base",
        "model: base Qwen/Qwen3-4B-Base is no folder here, so it is a model of the hub: name its",
    ),
    ("model.tiny.heads", 3, "model.tiny: hidden 128, heads 3, kv_heads 4 do not divide"),
    ("statistics.cluster", "tmplate", "statistics.cluster is \"tmplate\" (string); 'template' or 'case' is expected"),
    ("name", "A b", 'name is "A b" (string); a text that fits'),
    ("root_seed", -1, "root_seed is -1 (whole number); 0 or more is expected"),
]


@pytest.mark.parametrize("name", ["sk-secret", "sk_secret", "a secret"])
def test_a_key_in_a_study_file_is_not_repeated(tmp_path: Path, name: str) -> None:
    section = {"endpoint": "http://h/v1", "model": "m", "cases": 1, "key_variable": name}
    assert "secret" not in refused(tmp_path, changed("data.source.llm", section))


@pytest.mark.parametrize(("place", "value", "message"), WRONG)
def test_a_wrong_value_is_named_with_what_is_expected(tmp_path: Path, place: str, value: Any, message: str) -> None:
    assert message in refused(tmp_path, changed(place, value))


def test_a_misspelt_section_is_named_before_the_one_that_it_leaves_missing(tmp_path: Path) -> None:
    text = yaml.safe_dump({"evaluaton" if key == "evaluation" else key: value for key, value in LAPTOP.items()})
    message = refused(tmp_path, text)
    assert message.startswith("evaluaton is an unknown key")
    assert message.endswith("did you mean evaluation? (and 1 more)")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name: a\n\troot_seed: 1\n", "line 2: holds a tab; YAML indents with spaces"),
        ("name: a\nname: b\n", "line 2: the key 'name' is given twice (lines 1 and 2)"),
        ("arms:\n  x: {}\n  x: {}\n", "line 3: the key 'x' is given twice (lines 2 and 3)"),
        ("- a\n", "its content is list; a mapping of `key: value` lines is expected"),
        ("", "its content is nothing; a mapping"),
        ("a: [1\n", "is no YAML"),
        ("a: !!python/object/apply:os.getcwd []\n", "is no YAML"),
        ("3: 4\n", "3 is a key that is no text"),
    ],
)
def test_what_is_no_study_at_all_is_named_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    assert message in refused(tmp_path, text)


def test_a_file_that_is_not_there_and_one_in_another_encoding(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="there is no such study file"):
        load(tmp_path / "none.yaml")
    (tmp_path / "latin.yaml").write_bytes(b"name: caf\xe9\n")
    with pytest.raises(ConfigError, match="is not UTF-8 text"):
        load(tmp_path / "latin.yaml")


def test_an_unknown_name_lists_the_studies_and_the_nearest() -> None:
    with pytest.raises(
        ConfigError, match=r"study 'labtop': not in config/studies \(there: .*laptop.*\); did you mean laptop"
    ):
        load("labtop", ROOT)


def test_a_number_with_an_exponent_needs_no_point(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(changed("sft.learning_rate", 0.5).replace("learning_rate: 0.5", "learning_rate: 3e-3"))
    assert load(path).sft.learning_rate == 0.003


def test_runs_are_sft_and_every_arm_with_every_seed() -> None:
    study = load("laptop", ROOT)
    assert study.runs[:3] == ["sft", "sparse-seed0", "sparse-seed1"]
    assert len(study.runs) == 1 + len(study.arms) * study.rlvr.training_seeds


def test_a_study_on_the_cpu_takes_no_gpus(tmp_path: Path) -> None:
    assert load("laptop", ROOT).gpus("rlvr") == 0
    path = tmp_path / "mine.yaml"
    path.write_text(changed("model.device", "cuda"))
    with pytest.raises(ConfigError, match=r"rlvr.lora_rank is 0 and trainer trl samples with vllm"):
        load(path)
    path.write_text(changed("model.device", "cuda").replace("trainer: trl", "trainer: trl\n  lora_rank: 8"))
    assert [load(path).gpus(stage) for stage in ("sft", "rlvr", "evaluation")] == [1, 4, 1]


@pytest.mark.parametrize(
    ("section", "count"), [("rlvr", "training_seeds"), ("evaluation", "repetitions"), ("evaluation", "shards")]
)
def test_how_often_something_is_done_is_no_part_of_what_is_done(section: str, count: str) -> None:
    study = load("laptop", ROOT)
    assert count in study.model_dump()[section] and count not in study.parts()[section]


def test_what_samples_follows_the_device_unless_it_is_named(tmp_path: Path) -> None:
    laptop, glyph = load("laptop", ROOT), load("glyph", ROOT)
    assert [laptop.engine(stage) for stage in ("rlvr", "evaluation")] == ["hf", "hf"]
    assert [glyph.engine(stage) for stage in ("rlvr", "evaluation")] == ["prime-rl", "vllm"]
    assert "engine" not in laptop.parts()["evaluation"], "what a small study does not name changes none of its jobs"
    path = tmp_path / "mine.yaml"
    path.write_text(changed("evaluation.engine", "vllm"))
    assert load(path).engine("evaluation") == "vllm" and load(path).shards == []
    path.write_text(changed("evaluation.shards", 3))
    assert load(path).shards == [0, 1, 2]


@pytest.mark.parametrize(
    "name",
    [
        "config/studies/laptop.yaml",
        "config/test/minute.yaml",
        "config/test/import.yaml",
        "config/test/fathom-minute.yaml",
    ],
)
def test_the_studies_in_the_repository_load(name: str) -> None:
    assert load(name, ROOT).name == Path(name).stem


def test_an_import_is_called_so_in_the_file_and_names_the_files_that_it_reads(tmp_path: Path) -> None:
    (tmp_path / "specs.jsonl").write_text("{}\n")
    path = tmp_path / "mine.yaml"
    path.write_text(changed("data.source", {"import": {"dataset": str(tmp_path), "specs": "specs.jsonl"}}))
    study = load(path)
    assert study.parts()["data"]["source"]["import"]["specs"] == "specs.jsonl"
    assert study.data.source.files() == [str(tmp_path / "specs.jsonl")]
    assert load("laptop", ROOT).data.source.files() == []


def test_the_exported_schema_is_fresh() -> None:
    assert (ROOT / SCHEMA).read_text(encoding="utf-8") == schema(), "remake it: tiebreak.study.export_schema()"


def sections(model: type[BaseModel]) -> list[type[BaseModel]]:
    """A model and those that its fields hold."""
    found, waiting = [], [model]
    while waiting:
        found.append(waiting.pop())
        for field in found[-1].model_fields.values():
            options = [field.annotation, *getattr(field.annotation, "__args__", ())]
            waiting += [item for item in options if isinstance(item, type) and issubclass(item, BaseModel)]
    return found


@pytest.mark.parametrize(
    "model", dict.fromkeys([*sections(Study), *sections(FathomStudy)]), ids=lambda model: model.__name__
)
def test_every_field_is_described_and_no_section_takes_unknown_keys(model: type[BaseModel]) -> None:
    assert [name for name, field in model.model_fields.items() if not field.description] == []
    assert model.model_config["extra"] == "forbid" and model.model_config["frozen"] is True


def test_a_loaded_study_cannot_be_changed() -> None:
    study = load("laptop", ROOT)
    change: Callable[[], None] = lambda: setattr(study.rlvr, "steps", 1)  # noqa: E731
    with pytest.raises(ValueError, match="frozen"):
        change()


def test_a_template_is_named_once(tmp_path: Path) -> None:
    text = changed("data.source.generate.templates", ["level", "mean", "level"])
    assert "level is named twice; name each template once" in refused(tmp_path, text)


def test_an_unknown_template_and_a_foreign_name_are_named(tmp_path: Path) -> None:
    folder = tmp_path / "config/studies"
    folder.mkdir(parents=True)
    text = (ROOT / "config/studies/laptop.yaml").read_text(encoding="utf-8")
    (folder / "mine.yaml").write_text(text.replace("        - bands\n", "        - bandz\n"), encoding="utf-8")
    with pytest.raises(ConfigError, match="there is no template bandz; did you mean bands?"):
        load("mine", tmp_path)
    (folder / "mine.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match="name is 'laptop', the folder of another study's results; write name: mine"):
        load("mine", tmp_path)
