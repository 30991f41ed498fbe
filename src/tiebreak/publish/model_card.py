"""The card of one run's model: what it is, its base, and its evaluation as entries that the hub reads."""

from collections.abc import Mapping
from typing import Any

from tiebreak.errors import HubError
from tiebreak.paths import BASE_ARM, parse_run
from tiebreak.publish.card import markdown
from tiebreak.publish.release import repository
from tiebreak.study import Study

ADAPTER = "adapter_config.json"
MADE_HERE = "tiny"
"""The base of studies that make their own (`model.base`)."""


def model_card(
    study: Study, run: str, analysis: Mapping[str, Any], model: Mapping[str, Any], commit: str | None
) -> str:
    """The text of a model's README.md.

    analysis: of the release; model: the run's entry of the manifest (digest, files, repo); commit: of the code.
    Raises HubError where the study names no dataset or no owner.
    """
    arm, seed = parse_run(run)
    name, dataset = repository(study, run), study.publish.dataset
    if name is None or dataset is None:
        raise HubError(f"study {study.name}: publish.models and publish.dataset must both be named for a model's card")
    told = [item for item in analysis["arms"][arm]["repetitions"] if item["run"] == run]
    rates = [item["pass_at_1"] for item in told if item["pass_at_1"] is not None]
    mean = sum(rates) / len(rates) if rates else None
    is_adapter = ADAPTER in model["files"]
    return (
        markdown()
        .get_template("model.md.j2")
        .render(
            head=head(study, run, name, mean, is_adapter=is_adapter),
            study=study,
            name=name,
            what="An adapter" if is_adapter else "A model",
            story=story(study, arm, seed),
            repetitions=told,
            mean=mean,
            dataset=dataset,
            base=base_in_words(study, run),
            base_repo=base_of(study, run),
            seed=seed,
            commit=commit,
            digest=model["digest"],
            is_adapter=is_adapter,
            base_is_public=hub_base(study) is not None,
        )
    )


def story(study: Study, arm: str, seed: int | None) -> str:
    """How the model was made."""
    if seed is None:
        return "the SFT model that all arms start from"
    values = study.arms[arm].model_dump(mode="json", exclude_defaults=True)
    words = {name: " ".join(value) if isinstance(value, list) else value for name, value in values.items()}
    shape = ", ".join(f"{name} {value}" for name, value in words.items()) or "the common table alone"
    return f"trained from the study's SFT model with GRPO under the reward shape `{arm}` ({shape})"


def hub_base(study: Study) -> str | None:
    """The base model's name at the hub; None for one that is made by the study or lies in the repository."""
    return study.model.base if study.model.revision is not None else None


def base_of(study: Study, run: str) -> str | None:
    """The repository that a run's model was trained from; None where there is none."""
    return hub_base(study) if run == BASE_ARM else repository(study, BASE_ARM)


def base_in_words(study: Study, run: str) -> str:
    """The base, with its revision."""
    if run != BASE_ARM:
        return f"[{repository(study, BASE_ARM)}](/{repository(study, BASE_ARM)}), the study's SFT model"
    if study.model.base == MADE_HERE:
        return "a small Qwen3 made from scratch by the study itself"
    if hub_base(study) is None:
        return f"the folder `{study.model.base}` of Tiebreak's repository at that commit"
    return f"[{study.model.base}](/{study.model.base}) at revision `{study.model.revision}`"


def head(study: Study, run: str, name: str, mean: float | None, *, is_adapter: bool) -> str:
    """The card's metadata as the hub's own classes write them, the evaluation among them."""
    from huggingface_hub import EvalResult, ModelCardData

    part = study.evaluation
    entry = EvalResult(
        task_type="text-generation",
        dataset_type=study.publish.dataset or "",
        dataset_name=f"Tiebreak study {study.name}, held-out cases",
        dataset_config="results",
        dataset_split="holdout",
        metric_type="pass@1",
        metric_name="graded pass@1, mean of repetitions",
        metric_value=mean,
        metric_args={"k": part.k, "repetitions": part.repetitions, "temperature": part.temperature},
    )
    told = ModelCardData(
        license=study.publish.license,
        library_name="peft" if is_adapter else "transformers",
        pipeline_tag="text-generation",
        base_model=base_of(study, run),
        datasets=[study.publish.dataset or ""],
        tags=["tiebreak", "rlvr", study.domain],
        model_name=name.split("/")[1],
        eval_results=None if mean is None else [entry],
    )
    return f"{told.to_yaml()}\n"
