"""Forgeries of a release of the minute study, by name: each takes the folder of a release and changes it."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tiebreak.publish.packs import unpack, write_pack
from tiebreak.tables import write_table

EVALUATION = "results/evals/dense-seed0/rep1/rollouts.parquet"
Row = dict[str, Any]


def edit_rows(path: Path, change: Callable[[list[Row]], list[Row]]) -> None:
    """Rewrite a table with its rows changed."""
    schema = pq.read_schema(path)
    write_table(path, pa.Table.from_pylist(change(pq.read_table(path).to_pylist()), schema=schema), schema)


def edit_json(path: Path, change: Callable[[Any], None]) -> None:
    """Rewrite a JSON file with its value changed, its keys in their order."""
    value = json.loads(path.read_text(encoding="utf-8"))
    change(value)
    path.write_text(json.dumps(value, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def edit_lines(path: Path, change: Callable[[list[Any]], None]) -> None:
    """Rewrite a file of JSON lines with its values changed."""
    values = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    change(values)
    path.write_text("".join(json.dumps(value, ensure_ascii=False) + "\n" for value in values), encoding="utf-8")


def edit_text(path: Path, old: str, new: str) -> None:
    """Replace the first `old` in a text."""
    text = path.read_text(encoding="utf-8")
    assert old in text, f"{path} has no {old!r}"
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def in_pack(release: Path, name: str, change: Callable[[Path], object]) -> None:
    """Change a member of the pack of its folder, as in arms/dense/seed0/steps.jsonl."""
    pack, place = release / "results" / f"{name.split('/')[0]}.zip", release.parent / "unpacked"
    members = unpack(pack, place)
    change(place / name)
    write_pack(pack, place, [item for item in dict.fromkeys([*members, name]) if (place / item).exists()])
    shutil.rmtree(place)


def first_row(**changes: Any) -> Callable[[list[Row]], list[Row]]:
    """Change columns of the first row."""
    return lambda rows: [rows[0] | changes, *rows[1:]]


def own_turn(change: Callable[[Row], None]) -> Callable[[list[Row]], list[Row]]:
    """Change the first turn that the model wrote, of the first row."""

    def changed(rows: list[Row]) -> list[Row]:
        change(next(turn for turn in rows[0]["turns"] if turn["role"] == "assistant"))
        return rows

    return changed


def flip(turn: Row) -> None:
    turn["content"] = turn["content"][:-1] + ("a" if turn["content"][-1:] != "a" else "b")


def reseed(turn: Row) -> None:
    turn["sampling_seed"] += 1


def drop_repetition(release: Path) -> None:
    (release / EVALUATION).unlink()
    in_pack(release, "evals/dense-seed0/rep1/summary.json", Path.unlink)
    in_pack(release, "evals/dense-seed0/rep1/timings.parquet", Path.unlink)
    edit_lines(
        release / "records.jsonl", lambda records: records.remove(job(records, "evaluation", "rep", "1", "dense-seed0"))
    )


def job(records: list[Row], rule: str, name: str, value: str, run: str) -> Row:
    """The record of a job."""
    found = [record for record in records if record["rule"] == rule and record["wildcards"][name] == value]
    return next(record for record in found if record["wildcards"]["run"] == run)


def duplicate(rows: list[Row]) -> list[Row]:
    return [rows[0], rows[0] | {"sample": rows[1]["sample"]}, *rows[2:]]


def swap_cases(cases: list[Any]) -> None:
    one, other = (case for case in cases[:2])
    one["case_id"], other["case_id"] = other["case_id"], one["case_id"]


def more_graded(value: Any) -> None:
    value["graded"] += 1


def forge_analysis(value: Any) -> None:
    value["arms"]["dense"]["pass_at_1"]["value"] += 0.125


def forge_step(lines: list[Any]) -> None:
    lines[0]["reward_mean"] += 1


def more_cut(lines: list[Any]) -> None:
    lines[0]["truncated"] += 1


def other_template(lines: list[Any]) -> None:
    lines[0]["template"] = "another"


def forge_group(lines: list[Any]) -> None:
    lines[0]["rewards"] = [reward + 1 for reward in lines[0]["rewards"]]


def swap_groups(lines: list[Any]) -> None:
    """Two groups of a step change places: the same groups, in an order that the seed does not give."""
    for name in lines[0].keys() - {"step", "group"}:
        lines[0][name], lines[1][name] = lines[1][name], lines[0][name]


def drop_step(release: Path) -> None:
    """A training without its last step, everywhere."""
    for name in ("groups", "steps"):
        in_pack(release, f"arms/dense/seed0/{name}.jsonl", lambda path: edit_lines(path, without_last_step))


def without_last_step(lines: list[Any]) -> None:
    last = lines[-1]["step"]
    lines[:] = [line for line in lines if line["step"] != last]


def forge_decision(value: Any) -> None:
    value["measure"]["tied"]["count"] -= 1


def forge_tie(value: Any) -> None:
    value["reason"] = value["reason"].replace("tie", "differ", 1)


def forge_audit(value: Any) -> None:
    value["calls"] += 1


def set_alpha(value: Any) -> None:
    value["study"]["statistics"]["alpha"] = 0.1


def set_k(value: Any) -> None:
    value["study"]["evaluation"]["k"] += 1


def raise_number(path: Path) -> None:
    """The first number with a point in the second line of a CSV file, times ten and more."""
    head, row, rest = path.read_text(encoding="utf-8").split("\n", 2)
    cells = row.split(",")
    place = next(i for i, cell in enumerate(cells) if cell.replace(".", "", 1).replace("-", "", 1).isdigit())
    cells[place] = str(float(cells[place]) * 10 + 1)
    path.write_text("\n".join([head, ",".join(cells), rest]), encoding="utf-8")


def only(records: list[Row], rule: str) -> Row:
    return next(record for record in records if record["rule"] == rule)


def hang_on(records: list[Row]) -> None:
    """The analysis becomes the work of a job that is not run again."""
    analysis = only(records, "analysis")
    only(records, "tokens")["outputs"] += analysis["outputs"]
    records.remove(analysis)


def feed(records: list[Row]) -> None:
    """The analysis read a table that no job made."""
    only(records, "analysis")["inputs"][-1]["path"] = "results/minute/records/x.parquet"


def forget(records: list[Row]) -> None:
    only(records, "analysis")["params"]["statistics"] = {}


def stop(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text('{"gate": "trial", "reason": "all groups tie"}\n', encoding="utf-8")


def rows_of(name: str, change: Callable[[list[Row]], list[Row]]) -> Callable[[Path], None]:
    return lambda release: edit_rows(release / name, change)


def json_of(name: str, change: Callable[[Any], None]) -> Callable[[Path], None]:
    return lambda release: edit_json(release / name, change)


def member(name: str, change: Callable[[Path], object]) -> Callable[[Path], None]:
    return lambda release: in_pack(release, name, change)


def flip_token(release: Path, name: str = EVALUATION) -> None:
    """Change a character of what the model wrote."""
    edit_rows(release / name, own_turn(flip))


CORRUPTIONS: dict[str, Callable[[Path], object]] = {
    "flipped rollout token": flip_token,
    "changed seed": rows_of(EVALUATION, own_turn(reseed)),
    "dropped repetition": drop_repetition,
    "removed rollout": rows_of(EVALUATION, lambda rows: rows[1:]),
    "duplicated sample": rows_of(EVALUATION, duplicate),
    "forged grade": rows_of(EVALUATION, first_row(graded=True)),
    "forged validity": rows_of(EVALUATION, first_row(valid=True)),
    "edited reward": rows_of(EVALUATION, first_row(rewards=[("dense", 10.0)])),
    "edited tokens": rows_of(EVALUATION, first_row(new_tokens=1)),
    "edited template": rows_of(EVALUATION, first_row(template="another")),
    "edited results table": rows_of("tables/results.parquet", first_row(graded=2)),
    "edited training table": rows_of("tables/training.parquet", first_row(reward_mean=9.0)),
    "edited statistics table": member("stats/tables/arms.csv", raise_number),
    "edited analysis": json_of("results/stats/analysis.json", forge_analysis),
    "edited audit": json_of("results/audits/audits.json", forge_audit),
    "edited figure": lambda release: edit_text(
        release / "results/report/figures/forest.svg", "stroke-width: ", "stroke-width: 1"
    ),
    "edited figure data": member("report/tables/figure_levels.csv", raise_number),
    "edited p-value in the report": lambda release: edit_text(
        release / "results/report/index.html", "p = ", "p = 0.001, not "
    ),
    "edited card number": lambda release: edit_text(release / "README.md", "0.", "0.9"),
    "changed alpha": json_of("study.json", set_alpha),
    "changed k": json_of("study.json", set_k),
    "swapped cases": lambda release: edit_lines(release / "results/data/cases.jsonl", swap_cases),
    "edited blueprint": member("data/blueprints.jsonl", lambda path: edit_text(path, "fn ", "fn  ")),
    "edited prompt": member(
        "data/holdout.parquet", lambda path: edit_rows(path, first_row(prompt="<|im_start|>user\nhi\n<|im_end|>"))
    ),
    "edited step": member("arms/dense/seed0/steps.jsonl", lambda path: edit_lines(path, forge_step)),
    "edited cuts of a step": member("arms/dense/seed0/steps.jsonl", lambda path: edit_lines(path, more_cut)),
    "edited template of a group": member(
        "arms/dense/seed0/groups.jsonl", lambda path: edit_lines(path, other_template)
    ),
    "edited training reward": member("arms/dense/seed0/groups.jsonl", lambda path: edit_lines(path, forge_group)),
    "swapped groups": member("arms/dense/seed0/groups.jsonl", lambda path: edit_lines(path, swap_groups)),
    "dropped training step": drop_step,
    "edited decision": member("arms/dense/seed0/decision.json", lambda path: edit_json(path, forge_decision)),
    "edited gate": member("gates/ties/dense.json", lambda path: edit_json(path, forge_tie)),
    "edited summary": member("evals/dense-seed0/rep1/summary.json", lambda path: edit_json(path, more_graded)),
    "outputs hung on another job": lambda release: edit_lines(release / "records.jsonl", hang_on),
    "input that nothing made": lambda release: edit_lines(release / "records.jsonl", feed),
    "settings left out": lambda release: edit_lines(release / "records.jsonl", forget),
    "run made to disappear": member("arms/dense/seed0/model/stopped.json", stop),
    "added file": lambda release: (release / "results" / "more.csv").write_text("a\n1\n"),
}
