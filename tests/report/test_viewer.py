"""The viewer in headless Chromium, from the disk: filters, addresses, diffs, and text that would like to be more."""

import re
from collections.abc import Callable
from html import unescape
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from report.browser import CHROMIUM, REASON, Shown, show

from tiebreak.domains.rust.rewards import PUBLISHED_TABLES
from tiebreak.domains.rust.stored import stored_terms
from tiebreak.report.page import build
from tiebreak.report.rollouts import Stored
from tiebreak.report.viewer import FOLDER, link, write_page
from tiebreak.report.viewer_data import write_data
from tiebreak.stats.analysis import analyse
from tiebreak.stats.counts import counts
from tiebreak.tables import write_table

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason=REASON)
Open = Callable[[str], Shown]


def terms(stored: Stored) -> dict[str, dict[str, float]]:
    return stored_terms(stored.turns, stored.row["stop"], stored.row["facts"], PUBLISHED_TABLES)


@pytest.fixture(scope="module")
def opened(rollout_tables: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Open:
    """Opens the viewer of the small study at an address; its console must stay empty."""
    out = tmp_path_factory.mktemp("viewer")
    write_data(rollout_tables, terms, out / FOLDER, "tiny")
    page = write_page(out, "tiny")

    def made(address: str) -> Shown:
        shown = show(page, out / "profile", address)
        assert shown.console == [] and 'data-state="ready"' in shown.dom
        return shown

    return made


def test_all_rollouts_are_listed_and_counted(opened: Open) -> None:
    shown = opened("")
    assert shown.text("counts") == ("rollouts: 72, of 4 cases (12 pairs of a run and a case); 30 graded, 1 errors")
    assert len(shown.rows()) == 72 and shown.panes() == [] and shown.text("problem") == ""


@pytest.mark.parametrize(
    ("filters", "count"),
    [
        ({"arm": "dense", "outcome": "graded"}, 20),
        ({"run": "dense-seed1", "rep": 1, "outcome": "ended"}, 11),
        ({"outcome": "error"}, 1),
        ({"arm": "dense,sft", "case": "case_0", "outcome": "success-not-graded"}, 6),
        ({"arm": "sft", "solved": "some"}, 24),
        ({"arm": "sft", "solved": "never"}, 0),
        ({"family": "patch_run_pass"}, 0),
    ],
)
def test_a_filter_leaves_what_it_says(opened: Open, filters: dict[str, object], count: int) -> None:
    shown = opened(link(**filters).partition("#")[2])
    assert re.match(rf"rollouts: {count}, ", shown.text("counts")) and len(shown.rows()) == count


def test_each_number_that_counts_rollouts_leads_to_as_many(
    opened: Open, rollout_tables: list[Path], tmp_path: Path
) -> None:
    table = counts(rollout_tables)
    study = analyse(table, alpha=0.05, cluster="case", k=2, seed=1, draws=50, arms=["dense"])
    index = write_data(rollout_tables, terms, tmp_path / FOLDER, "tiny")
    page = build(study, {}, [], {}, {"study": "tiny"}, tmp_path, counts=table, rollouts=index)
    shown = show(page, tmp_path / "profile")
    assert shown.console == []
    links = {unescape(a): b for a, b in re.findall(r'<a href="viewer\.html#([^"]*)">([^<]+)</a>', shown.dom)}
    assert len(links) > 40 and links["run=dense-seed1&rep=1&outcome=error"] == "1"
    for address in ("arm=dense&outcome=graded", "arm=dense&outcome=ended", "run=dense-seed1&outcome=success"):
        assert opened(address).text("counts").startswith(f"rollouts: {links[address]}, ")
    pairs = int(float(links["arm=dense&solved=some"]) * len(study["arms"]["dense"]["runs"]))
    assert f"({pairs} pairs of a run and a case)" in opened("arm=dense&solved=some").text("counts")
    up = "arm=sft%2Cdense&moved=sft%2Cdense%2Cup"
    assert f" of {links[up]} cases " in opened(up).text("counts")


def test_cases_that_moved_are_found_from_the_counts(opened: Open) -> None:
    up = {row[2] for row in opened("arm=sft,dense&moved=sft,dense,up").rows()}
    down = {row[2] for row in opened("arm=sft,dense&moved=sft,dense,down").rows()}
    assert (up, down) == ({"case_3"}, set()), "an infrastructure error leaves 11 samples, of which 4 are graded"


def test_an_address_opens_its_rollout_and_another_beside_it(opened: Open) -> None:
    shown = opened("run=dense-seed0&rep=1&case=case_2&sample=1&beside=sft/1/case_2/1")
    assert shown.panes() == ["dense-seed0/1/case_2/1", "sft/1/case_2/1"]
    assert '<span class="gone">−  b &lt;b&gt;old&lt;/b&gt;\n</span><span class="come">+  b new\n</span>' in re.sub(
        r"([−+]) ", r"\1  ", shown.dom
    )
    row = re.search(r'<tr class="sum">(.*?)</tr>', shown.dom)
    assert row and re.findall(r"<td>([^<]*)</td>", row[1]) == ["−1", "0.5", "0.25"]


def test_what_a_model_wrote_is_text(opened: Open) -> None:
    shown = opened("run=sft&rep=0&case=case_1&sample=0")
    assert "<title>tiny: rollouts</title>" in shown.dom and "<img" not in shown.dom
    text = unescape(re.sub(r"<[^>]+>", "", shown.dom))
    assert "</script><script>document.title='owned'</script><img src=x" in text
    assert "⟨U+2028⟩⟨U+2029⟩⟨U+202E⟩⟨U+0000⟩⟨U+001B⟩[31m&lt;⟨U+061C⟩⟨U+3164⟩⟨U+E0041⟩" in text


def test_an_address_of_nothing_says_so(opened: Open) -> None:
    assert opened("open=sft/7/case_1/0").text("problem") == "no rollout has the address sft/7/case_1/0"


def test_a_chunk_that_is_gone_is_named(rollout_tables: list[Path], tmp_path: Path) -> None:
    write_data(rollout_tables, terms, tmp_path / FOLDER, "tiny")
    page = write_page(tmp_path, "tiny")
    (tmp_path / FOLDER / "sft-rep0-0.js").unlink()
    shown = show(page, tmp_path / "profile", "open=sft/0/case_1/0")
    assert "rollouts/sft-rep0-0.js cannot be read" in shown.text("problem") and len(shown.rows()) == 72


def test_a_chunk_that_is_cut_off_is_named(rollout_tables: list[Path], tmp_path: Path) -> None:
    write_data(rollout_tables, terms, tmp_path / FOLDER, "tiny")
    page = write_page(tmp_path, "tiny")
    chunk = tmp_path / FOLDER / "sft-rep0-0.js"
    chunk.write_text(chunk.read_text(encoding="ascii")[:200], encoding="ascii")
    shown = show(page, tmp_path / "profile", "open=sft/0/case_1/0")
    assert "rollouts/sft-rep0-0.js cannot be read whole" in shown.text("problem")
    assert 'data-state="ready"' in shown.dom


def test_a_patch_of_very_many_lines_is_shown(rollout_tables: list[Path], tmp_path: Path) -> None:
    table = pq.read_table(rollout_tables[0])
    rows = table.to_pylist()
    find = "\\n".join(str(number) for number in range(150_000))
    rows[0]["turns"][1]["content"] = f'CALL apply_patch {{"id":"c1","file_path":"a","find":"{find}","replace":"new"}}'
    write_table(tmp_path / "long.parquet", rows, table.schema)
    write_data([tmp_path / "long.parquet"], terms, tmp_path / FOLDER, "tiny")
    first = rows[0]
    address = f"sft/{first['repetition']}/{first['case_id']}/{first['sample']}"
    shown = show(write_page(tmp_path, "tiny"), tmp_path / "profile", f"open={address}")
    assert shown.text("problem") == "" and shown.panes() == [address] and "149999" in shown.dom
