"""What `tiebreak doctor` looks at for a study: its questions, data, model, adapters, tools, and the disk it takes."""

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from tiebreak.cli import doctor
from tiebreak.cli.doctor import GIB, Finding
from tiebreak.errors import EngineError, TrainingError
from tiebreak.paths import BASE_ARM, Paths

if TYPE_CHECKING:
    from tiebreak.study import Study


def look_at_study(study: "Study", *, at_once: int = 1) -> Iterator[Finding]:
    """What a study asks of its user, its data, its model at the hub or in a folder, its tools, and the disk it takes.

    at_once: trainings at a time.
    """
    from tiebreak.training.disk import needed

    yield from (Finding("study", "missing", question) for question in study.questions())
    yield from look_at_import(study)
    model, weights = look_at_model(study)
    yield model
    yield from look_at_adapters(study)
    yield from look_at_vllm(study)
    if study.model.is_hub and not weights:
        free = f"{doctor.free_bytes() / GIB:.1f} GiB free, not compared: the size of the model is not known"
        yield Finding("disk", "warning", free, "look again where the hub answers")
        return
    parts = needed(study, weights, doctor.ROOT, at_once=at_once) if study.model.device == "cuda" else {}
    yield doctor.look_at_disk(doctor.free_bytes(), parts)


def look_at_model(study: "Study") -> tuple[Finding, int]:
    """Whether the base model can be had, and the size of its weights, 0 where it cannot or is yet to be made."""
    from tiebreak.training.download import model_bytes
    from tiebreak.training.fit import weights_bytes

    name, revision = study.model.base, str(study.model.revision)
    folder = doctor.ROOT / Paths(study.name).base if study.model.is_made else Path(name)
    if (folder / "config.json").is_file():
        size = weights_bytes(folder)
        if problem := misfit(study, folder):
            return Finding("model", "missing", problem), size
        return Finding("model", "ok", f"{name}, {size / GIB:.1f} GiB of weights here"), size
    if not study.model.is_hub:
        return Finding("model", "ok", f"{name}, which the study makes"), 0
    try:
        size = model_bytes(name, revision)
    except TrainingError as error:
        return Finding("model", "missing", str(error)), 0
    return Finding("model", "ok", f"{name} at {revision[:12]}, {size / GIB:.1f} GiB of weights"), size


def look_at_import(study: "Study") -> Iterator[Finding]:
    """The folder and the files of blueprints that are imported from this machine."""
    part = getattr(study.data.source, "imported", None)
    if part is None:
        return
    wanted = [Path(part.families)] if part.families else []
    if part.is_folder:
        wanted += [Path(part.dataset) / part.specs if part.specs else Path(part.dataset)]
    for path in wanted:
        if not (doctor.ROOT / path).exists():
            mend = "data.source.import names it: put it there, or name another"
            yield Finding("data", "missing", f"{path} is not there", mend)


def look_at_prime_rl(study: "Study") -> Iterator[Finding]:
    """What installs prime-rl, if the study trains with it and it is not there yet."""
    from tiebreak.training.prime_rl.install import NEEDED

    if all((doctor.ROOT / stamp).is_file() for stamp in study.tools()):
        return
    for program, mend in NEEDED.items():
        if shutil.which(program) is None:
            yield Finding("prime-rl", "missing", f"{program} is not on PATH, and prime-rl is yet to be installed", mend)


def look_at_vllm(study: "Study") -> Iterator[Finding]:
    """Where vLLM comes from, if the study samples with it."""
    from tiebreak.engines.vllm_machine import PYTHON, find_python

    if "vllm" not in (study.engine("rlvr"), study.engine("evaluation")):
        return
    if PYTHON not in os.environ:
        yield Finding("vllm", "ok", "rule vllm_server installs it from its lock")
        return
    try:
        yield Finding("vllm", "ok", f"{find_python(None)}, named by {PYTHON}")
    except EngineError as error:
        yield Finding("vllm", "missing", str(error))


def misfit(study: "Study", base: Path) -> str | None:
    """What a study says of its base's ids that is not so: prime-rl would never sample some, or sample unknown ones."""
    rows = json.loads((base / "config.json").read_text(encoding="utf-8")).get("vocab_size")
    part = study.rlvr.prime_rl if study.rlvr.trainer == "prime-rl" else None
    if part is None or rows == part.vocabulary:
        return None
    return f"rlvr.prime_rl.vocabulary is {part.vocabulary}, the model in {base} has {rows} rows; make them agree"


def look_at_adapters(study: "Study") -> Iterator[Finding]:
    """The stored adapters that are another model's."""
    from tiebreak.engines.adapter import is_adapter
    from tiebreak.training.fit import check_adapter

    paths = Paths(study.name, doctor.ROOT / "results")
    for model in map(paths.model, study.trained_runs):
        if is_adapter(model):
            try:
                check_adapter(model, paths.model(BASE_ARM))
            except (EngineError, TrainingError) as error:
                yield Finding("adapter", "missing", str(error))
