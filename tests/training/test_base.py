"""The base from scratch comes from its seed; the one that is checked in is the one that its record names."""

import json
from pathlib import Path

from tiebreak.digest import file_digest
from tiebreak.domains.rust.domain import RustDomain
from tiebreak.domains.rust.verdicts import Judge
from tiebreak.provenance import path_digest
from tiebreak.sections.model import Tiny
from tiebreak.study import load
from tiebreak.training.base import make_base

ROOT = Path(__file__).parents[2]
TINY = Tiny(
    hidden=32, layers=1, heads=2, kv_heads=2, ffn=48, vocab=500, warmup_tokens=2500, corpus=12, batch=4, threads=1
)


def made(folder: Path, seed: int) -> set[str]:
    domain = RustDomain(Judge(folder / "verdicts", diagnostics="short"))
    corpus = domain.corpus(seed, TINY.corpus)
    make_base(TINY, corpus, root_seed=seed, out=folder / "model", steps=folder / "steps.jsonl", work=folder / "work")
    return {file_digest(folder / "model" / name) for name in ("model.safetensors", "tokenizer.json")}


def test_the_same_seed_gives_the_same_base(tmp_path: Path) -> None:
    first = made(tmp_path / "a", 5)
    assert first == made(tmp_path / "b", 5)
    assert first != made(tmp_path / "c", 6)
    stages = {json.loads(line)["stage"] for line in (tmp_path / "a" / "steps.jsonl").read_text().splitlines()}
    assert stages == {"base stage 0", "base stage 1"}


def test_the_checked_in_base_is_what_its_record_says() -> None:
    study = load("laptop", ROOT)
    folder = ROOT / study.model.base
    record = json.loads((folder.parent / "record.json").read_text(encoding="utf-8"))
    outputs = {item["name"]: item["sha256"] for item in record["outputs"]}
    assert path_digest(folder) == outputs["model"]
    assert record["params"]["root_seed"] == study.root_seed
    assert record["params"]["model"]["tiny"] == study.model.tiny.model_dump(mode="json")
