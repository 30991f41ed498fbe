"""Cards: the hub's own classes read them, and every number is the artifacts'."""

import json

import yaml
from huggingface_hub import DatasetCard, ModelCard

from tiebreak.paths import Paths
from tiebreak.publish import manifest
from tiebreak.publish.card import card
from tiebreak.publish.model_card import model_card
from tiebreak.publish.publishing import ANALYSIS, cards_of
from tiebreak.publish.release import folder_of
from tiebreak.study import Study


def analysis_of(paths: Paths) -> dict[str, dict[str, dict[str, object]]]:
    return json.loads((folder_of(paths) / ANALYSIS).read_text())


def test_the_hub_s_class_reads_the_card(paths: Paths) -> None:
    read = DatasetCard(card(folder_of(paths)))
    assert (read.data.license, read.data.pretty_name) == ("cc-by-4.0", "Tiebreak study minute")
    files = {item["config_name"]: item["data_files"] for item in read.data.to_dict()["configs"]}
    assert files["results"] == [{"split": "holdout", "path": "tables/results.parquet"}]
    assert not [item for part in files.values() for item in part if "-" in item["split"]], "the hub forbids dashes"


def test_the_table_of_arms_is_the_analysis_s(paths: Paths) -> None:
    text, analysis = card(folder_of(paths)), analysis_of(paths)
    for name, arm in analysis["arms"].items():
        value = arm["pass_at_1"]
        shown = f"{value['value']:.3f} [{value['low']:.3f}, {value['high']:.3f}]"
        assert f"| {name} | 1 | {shown} |" in text
        assert f"{arm['graded']:,} of {arm['samples']:,}" in text


def test_a_card_without_licence_models_or_figure_still_reads(paths: Paths) -> None:
    path = folder_of(paths) / "study.json"
    told = json.loads(path.read_text())
    told["study"]["publish"] = {"dataset": None, "models": None, "private": True, "license": None}
    path.write_text(json.dumps(told))
    (folder_of(paths) / "results/report/figures/forest.svg").unlink()
    text = card(folder_of(paths))
    assert "No licence is named: all rights are reserved." in text
    assert "## Models" not in text and "![" not in text and "license" not in yaml.safe_load(text.split("---\n")[1])


def test_a_run_that_was_stopped_has_no_repository(paths: Paths) -> None:
    assert "minute-dense-seed0" in card(folder_of(paths))
    stopped = folder_of(paths) / "results/arms/dense/seed0/model/stopped.json"
    stopped.parent.mkdir(parents=True)
    stopped.write_text("{}")
    text = card(folder_of(paths))
    assert "minute-dense-seed0" not in text and "minute-sparse-seed0" in text


def test_a_model_s_evaluation_is_an_entry_that_the_hub_reads(paths: Paths) -> None:
    read = ModelCard((cards_of(paths) / "dense-seed0/README.md").read_text())
    (entry,) = read.data.eval_results
    rates = [item["pass_at_1"] for item in analysis_of(paths)["arms"]["dense"]["repetitions"]]
    assert abs(entry.metric_value - sum(rates) / len(rates)) < 1e-12 and len(rates) == 3
    assert (entry.dataset_type, entry.dataset_config) == ("anna/tiebreak-minute", "results")
    assert (read.data.base_model, read.data.library_name) == ("anna/minute-sft", "transformers")


def test_an_adapter_says_how_it_is_loaded_and_a_hub_base_its_revision(study: Study, paths: Paths) -> None:
    found = manifest.read(folder_of(paths)).models["dense-seed0"]
    model = {**found, "files": {"adapter_config.json": "0", "adapter_model.safetensors": "0"}}
    text = model_card(study, "dense-seed0", analysis_of(paths), model, None)
    assert 'PeftModel.from_pretrained(base, "anna/minute-dense-seed0")' in text and "`unknown`" in text
    base = study.model.model_copy(update={"base": "Qwen/Qwen3-4B-Base", "revision": "a" * 40})
    text = model_card(study.model_copy(update={"model": base}), "sft", analysis_of(paths), found, "c" * 40)
    assert f"[Qwen/Qwen3-4B-Base](/Qwen/Qwen3-4B-Base) at revision `{'a' * 40}`" in text
    assert ModelCard(text).data.base_model == "Qwen/Qwen3-4B-Base"
