"""Sources of blueprints: what each draws, and that bad specs are rejects while the good ones are kept."""

import json
from pathlib import Path

import pytest
from domains.rust.imports.specs import BAD_LINES, GLYPH, patched, reply, spec
from domains.rust.llm.server import reply_to

from tiebreak.domains.rust.generator import generate
from tiebreak.domains.rust.llm.instructions import messages
from tiebreak.domains.rust.llm.orders import CATEGORIES, Order, orders
from tiebreak.domains.rust.sources import Generated, Imported, Written, collect, unfenced
from tiebreak.errors import DataError


def dataset(tmp_path: Path, text: str | bytes) -> Imported:
    """A folder with one file of specs."""
    folder = tmp_path / "crates"
    folder.mkdir(exist_ok=True)
    (folder / "specs.jsonl").write_bytes(text.encode() if isinstance(text, str) else text)
    return Imported(str(folder), specs="specs.jsonl")


def test_the_generator_is_a_source() -> None:
    drawn = Generated(("mean", "longer"), 12).draw(5)
    assert drawn.blueprints == generate(("mean", "longer"), 12, 5) and drawn.rejects == []
    assert drawn.words == "12 blueprints from the generator, seed 5"
    assert Generated(("owned",), 12, attempts=6).draw(5).blueprints == generate(("owned",), 12, 5, attempts=6)


def test_imported_cases_have_published_names_and_are_their_own_templates(tmp_path: Path) -> None:
    drawn = dataset(tmp_path, reply("set-1", spec()) + reply("set-2", spec())).draw(1)
    assert [(item.case_id, item.template) for item in drawn.blueprints] == [
        ("set_1_one_more",) * 2,
        ("set_2_one_more",) * 2,
    ]
    assert all(item.hidden_checks == [] and item.generator == "" for item in drawn.blueprints)
    assert (
        "2 blueprints from " in drawn.words and "0 have hidden checks (the grade of the others rests on" in drawn.words
    )


def test_name_families_stand_in_for_templates_that_nobody_recorded(tmp_path: Path) -> None:
    families = tmp_path / "families.json"
    families.write_text(json.dumps({"families": [["counting", "more|less"]]}))
    own = spec(case_id="no_less", template="recorded")
    source = dataset(tmp_path, reply("a", spec()) + reply("b", own) + reply("c", spec(case_id="other")))
    drawn = Imported(source.dataset, specs=source.specs, families=str(families)).draw(1)
    assert [item.template for item in drawn.blueprints] == ["counting", "recorded", "c_other"]


def test_bad_rows_are_rejects_with_their_errors_and_good_rows_are_kept(tmp_path: Path) -> None:
    bad = [row for what, row in BAD_LINES.items() if what != "find occurs twice"]  # that shows when it is played
    drawn = dataset(tmp_path, b"".join([reply("good", spec()).encode(), *(line for line, _ in bad)])).draw(1)
    assert [item.case_id for item in drawn.blueprints] == ["good_one_more"]
    for reject, (_, says) in zip(drawn.rejects, bad, strict=True):
        assert reject["step"] == 0 and says in reject["errors"][0]
        assert reject["errors"][0].startswith(f"{reject['case_id']}: ")


def test_a_patch_that_no_call_line_can_say_is_refused(tmp_path: Path) -> None:
    drawn = dataset(tmp_path, reply("a", patched(replace="n + 1 // `one`"))).draw(1)
    assert drawn.blueprints == []
    assert drawn.rejects[0]["errors"][0].startswith("a: step 2: no call line can say")


def test_an_id_that_two_sources_have_is_kept_once(tmp_path: Path) -> None:
    item = generate("all", 3, 1)[1]
    source = dataset(tmp_path, item.model_dump_json() + "\n" + reply("a", spec()))
    drawn = collect([Generated("all", 3), source], 1)
    assert [found.case_id for found in drawn.blueprints][:3] == [found.case_id for found in generate("all", 3, 1)]
    assert drawn.blueprints[3].case_id == "a_one_more" and len(drawn.blueprints) == 4
    assert drawn.rejects == [
        {
            "case_id": item.case_id,
            "step": 0,
            "errors": [f"{item.case_id}: this id was used before; ids must be unique over all sources"],
        }
    ]
    assert len(drawn.words.splitlines()) == 2


def test_a_dataset_without_specs_says_what_it_has(tmp_path: Path) -> None:
    source = dataset(tmp_path, reply("a", spec()))
    with pytest.raises(DataError, match=r"there is no other.jsonl; its JSONL files are specs.jsonl"):
        Imported(source.dataset, specs="other.jsonl").draw(1)
    with pytest.raises(DataError, match=r"holds no case folder .*; name a file of specs in `specs`; its JSONL files"):
        Imported(source.dataset).draw(1)


def test_a_link_out_of_the_dataset_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "elsewhere.jsonl").write_text("{}")
    folder = tmp_path / "dataset"
    folder.mkdir()
    (folder / "specs.jsonl").symlink_to(tmp_path / "elsewhere.jsonl")
    with pytest.raises(DataError, match=r"specs.jsonl leads out of it; put the file itself there"):
        Imported(str(folder), specs="specs.jsonl").draw(1)


ORDERS = orders(["patch_test_pass", "patch_run_pass"], list(CATEGORIES)[:2], ["easy"], 4, 7)


def ordered(order: Order, **changes: object) -> dict[str, object]:
    """A sound reply to an order, with changes."""
    body = {"messages": messages(order), "seed": order.seed}
    return reply_to(body) | changes


def written(tmp_path: Path, *lines: str) -> Written:
    (tmp_path / "replies.jsonl").write_text("".join(lines))
    return Written(tmp_path / "replies.jsonl", "writer-1", ORDERS[: len(lines)])


def test_a_models_reply_is_what_was_ordered(tmp_path: Path) -> None:
    texts = [json.dumps(ordered(order)) for order in ORDERS]
    fenced = [f"```json\n{texts[0]}\n```\n", *texts[1:]]
    lines = [
        json.dumps({"custom_id": order.custom_id, "text": text}) + "\n"
        for order, text in zip(ORDERS, fenced, strict=True)
    ]
    drawn = written(tmp_path, *lines).draw(1)
    assert drawn.rejects == []
    for item, order in zip(drawn.blueprints, ORDERS, strict=True):
        assert item.case_id.startswith(order.custom_id.replace("-", "_"))
        assert (item.template, item.generator, item.seed) == (f"llm_{order.category}", "llm writer-1", order.seed)
        assert not item.generated and item.hidden_checks == []
    assert drawn.words.startswith("4 blueprints from 4 replies of writer-1, 0 rejected; none has hidden checks")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"bug_category": "other"}, f"bug_category: found 'other', {ORDERS[0].category} was asked for"),
        ({"difficulty": "hard"}, "difficulty: found 'hard', easy was asked for"),
        ({"final": "Done."}, "final: found 'Done.', one line that starts with FINAL: is expected"),
        ({"final": "FINAL: a\nFINAL: b"}, "one line that starts with FINAL: is expected"),
        ({"steps": None}, "steps: Input should be a valid list"),
    ],
)
def test_a_reply_that_is_not_what_was_ordered_is_a_reject(tmp_path: Path, change: dict[str, object], says: str) -> None:
    lines = [reply(order.custom_id, ordered(order)) for order in ORDERS[1:3]]
    drawn = written(tmp_path, reply(ORDERS[0].custom_id, ordered(ORDERS[0], **change)), *lines).draw(1)
    assert len(drawn.blueprints) == 2
    assert [reject["case_id"] for reject in drawn.rejects] == [ORDERS[0].custom_id]
    assert says in drawn.rejects[0]["errors"][0]


def test_replies_to_other_orders_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="these are not the replies to the study's orders; remove the file"):
        written(tmp_path, reply("another", ordered(ORDERS[0]))).draw(1)


@pytest.mark.parametrize("text", ["{}", "```\n{}\n```", "```json\n{}\n```", "\n```json\n{}\n```\n"])
def test_a_fence_is_taken_off(text: str) -> None:
    assert unfenced(text).strip() == "{}"
    assert unfenced(f"See {text}") == f"See {text}"


@pytest.mark.skipif(not GLYPH.is_dir(), reason="the published data (../shared/data) is absent")
def test_the_published_specs_are_imported_under_their_published_names() -> None:
    drawn = Imported(str(GLYPH), specs="specs.jsonl", families=str(GLYPH / "name_families.json")).draw(1)
    names = {item.case_id for item in drawn.blueprints}
    assert (len(names), len(drawn.rejects)) == (198, 2)
    prompts = [
        json.loads(line) for line in (GLYPH / "rl_prompts_sample.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    theirs = {row["case_id"] for row in prompts if row["case_id"].startswith("scale200_")}
    assert theirs and theirs <= names
