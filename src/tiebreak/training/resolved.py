"""A trainer's configuration as it was resolved, for the record of the job: what differs from the library's defaults."""

import json
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

NAME, ENGINE = "trainer.json", "engine.json"
PLACES = ("output_dir", "run_name", "logging_dir")


def keep_resolved(config: Any, work: Path) -> None:
    """Write what `config` (a TRL or transformers configuration) says beside its defaults into the training's folder."""
    said = json.loads(config.to_json_string())  # with tokens masked, as the library prints it
    default = {item.name: item.default for item in fields(config) if item.default is not MISSING}
    changed = {
        name: value for name, value in sorted(said.items()) if name not in PLACES and default.get(name, value) != value
    }
    work.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"class": type(config).__name__, **changed}, indent=1) + "\n"
    (work / NAME).write_text(text, encoding="utf-8")


def keep_engine(described: dict[str, object], work: Path) -> None:
    """Write what a server that plays a training's rollouts says of itself into the training's folder."""
    (work / ENGINE).write_text(json.dumps(described, indent=1) + "\n", encoding="utf-8")


def read_resolved(work: Path) -> dict[str, Any]:
    """What was kept, as a record's notes `trainer` and `engine`; nothing where another trainer worked."""
    kept = {"trainer": work / NAME, "engine": work / ENGINE}
    return {name: json.loads(path.read_text(encoding="utf-8")) for name, path in kept.items() if path.is_file()}
