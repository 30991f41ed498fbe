import json
import re
from dataclasses import asdict
from html.parser import HTMLParser

import pandas as pd
import pytest
from audits.readings import WordReader, row

from tiebreak import gates
from tiebreak.audits import study
from tiebreak.audits.groups import by_step
from tiebreak.audits.stored import stored
from tiebreak.errors import DataError
from tiebreak.report import data
from tiebreak.report.costs import costs
from tiebreak.report.page import build, facts, in_order
from tiebreak.stats.analysis import analyse

RECORDS = {
    "study": "tiny",
    "root_seed": 20261129,
    "threads": "1",
    "versions": {"python": "3.11.7", "scipy": "1.17.1"},
    "digests": {"evals": [{"path": "evals/sft/rep0/rollouts.parquet", "sha256": "ab" * 32}]},
    "commands": ["./dev snakemake --cores all --config study=tiny"],
    "jobs": [
        {
            "job": "evaluation-0-sft",
            "rule": "evaluation",
            "started": "2026-11-29T14:58:45Z",
            "threads": "1",
            "seconds": 12.34,
            "code": "c0" * 32,
            "commit": None,
            "dirty": None,
            "host": "here",
            "outputs": {"evals/sft/rep0/rollouts.parquet": "ef" * 32},
        }
    ],
}


class Page(HTMLParser):
    """What a browser would see: text, tags with attributes, table rows."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.words, self.rows, self.in_cell = [], [], [], False
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")
            self.in_cell = True

    def handle_endtag(self, tag):
        self.in_cell = self.in_cell and tag not in ("td", "th")

    def handle_data(self, data):
        self.words.append(data)
        if self.in_cell:
            self.rows[-1][-1] += data.strip()


@pytest.fixture(scope="module")
def more(counts_table):
    """What a study's page shows beyond its analysis."""
    spent = costs(RECORDS["jobs"], {"evaluation": 2}, {"evaluations": {"tokens_sampled": 1234}})
    rows = [row("reach:success pay:3", success=True, case_id="<b>9</b>"), row("reach:ran", sample=1, graded=True)]
    reader = WordReader()
    found, training = stored([rows], reader), by_step({}, reader.shaping)
    checked = {"rewards": {"compared": 2, "differing": 0}, "steps": {"compared": 0, "differing": []}}
    audits = study.document(study.tables(found, training, reader, seed=1, draws=50), checked, found)
    return {"counts": counts_table(), "spent": spent, "audits": audits}


@pytest.fixture(scope="module")
def built(analysis, steps, verdicts, decisions, more, tmp_path_factory):
    out = tmp_path_factory.mktemp("report")
    return build(analysis, steps, verdicts, decisions, RECORDS, out, **more)


@pytest.fixture(scope="module")
def page(built):
    return Page(built.read_text(encoding="utf-8"))


def test_carries_everything_it_shows(built, page):
    text = built.read_text(encoding="utf-8")
    assert "http" not in text
    assert not {tag for tag, _ in page.tags} & {"script", "link", "iframe", "img", "object"}
    assert "@import" not in text
    for _, attributes in page.tags:
        for name in ("src", "href", "xlink:href"):
            assert attributes.get(name, "#").startswith("#")


def test_says_the_answer_first_and_all_of_it(analysis, page):
    text = " ".join("".join(page.words).split())
    subjects = ("recipe", "learning", "checkpoints", "noise", "missing")
    shown = [s["text"].removeprefix("These checkpoints, ") for s in analysis["statements"] if s["about"] in subjects]
    places = [text.find(" ".join(line.split())) for line in shown]
    assert -1 not in places
    assert text.find(analysis["sentences"][0]) < text.find("Arms on held-out cases")


def test_levels_on_the_page_are_those_of_the_analysis(analysis, page):
    rows = {row[0]: row for row in reversed(page.rows) if row}  # the first table of an arm
    for arm, level in analysis["arms"].items():
        part = level["pass_at_1"]
        assert rows[arm][2] == f"{part['value']:.3f} [{part['low']:.3f}, {part['high']:.3f}]"
        counted = ("cases_never", "cases_mixed", "cases_always", "graded", "samples", "errors")
        assert rows[arm][5:11] == [str(level[name]) for name in counted]


def test_arms_stand_in_the_order_of_the_study_whatever_the_file_has(analysis):
    by_name = json.loads(json.dumps(analysis, sort_keys=True))
    assert list(by_name["arms"]) == ["dense", "sft", "sparse"]
    assert list(in_order(by_name)["arms"]) == ["sft", "sparse", "dense"]
    assert list(in_order(by_name)["learning"]["arms"]) == ["sparse", "dense"]


def test_both_tests_stand_on_the_page(analysis, page):
    rows = [row for row in page.rows if row and row[0] == "dense − sparse"]
    recipe, checkpoints = analysis["recipe"]["pairs"][0], analysis["checkpoints"][-1]
    assert rows[0][3:7] == [f"{recipe[name]:.4f}" for name in ("p", "p_holm", "smallest_p", "smallest_p_holm")]
    assert rows[0][-1] == "no claim possible"
    assert rows[1][2] == f"{checkpoints['over_cases']['p']:.4f}"
    assert rows[1][4] == f"{checkpoints['over_clusters']['p']:.4f}"


def test_cases_costs_and_audits_have_their_tables(analysis, page):
    pair = next(row for row in analysis["checkpoints"] if (row["a"], row["b"]) == ("sft", "dense"))
    noise = f"{analysis['noise']['graded']['mean_flips']:.1f}"
    moved = next(row for row in page.rows if row[0] == "dense" and row[-1] == noise)
    assert moved[1:3] == [str(pair["over_cases"][way]) for way in ("up", "down")]
    assert ["evaluations", "1", "12 s", "0.01", "1,234", "–"] in page.rows
    assert ["success not graded", "dense-seed0", "0", "<b>9</b>", "0"] in page.rows
    assert "2 stored rewards were computed again from conversations and facts: 0 differ." in page.words


def test_kept_is_the_batch_without_what_was_dropped(built, steps):
    training = pd.read_csv(built.parent / "tables" / "figure_training.csv")
    assert (training["kept"] == training["groups"] - training["tied"]).all() and training["tied"].sum() > 0


def test_dropped_groups_are_not_charted_as_kept():
    with pytest.raises(DataError, match=r"dense-seed0, step 3: kept is 4, but 12 groups − 4 tied = 8"):
        data.training({"dense-seed0": [{"step": 3, "groups": 12, "tied": 4, "kept": 4}]})


def test_training_and_trials_are_counted_from_the_records(steps, decisions, page):
    rows = [row for row in page.rows if row and row[0] == "dense-seed1"]
    tied = sum(record["tied"] for record in steps["dense-seed1"])
    assert ["dense-seed1", "5", "80", str(tied), str(80 - tied), f"{tied / 80:.3f}", "1.2"] in rows
    stopped = next(row for row in page.rows if row and row[0] == "compiler-seed0")
    assert stopped[1:3] == ["no-go", "9 of 10"]
    assert stopped[-1] == decisions["compiler-seed0"]["reason"]


def test_what_others_wrote_is_text_and_nothing_else(built):
    assert "<script>alert" not in built.read_text(encoding="utf-8")
    assert "&lt;script&gt;alert(1)" in built.read_text(encoding="utf-8")


def test_figures_have_their_data_beside_them(built, analysis, steps):
    out = built.parent
    drawn = {"forest", "case_map", "pass_at_k", "families", "learning", "training", "costs", "audit_never_solved"}
    assert {path.stem for path in (out / "figures").glob("*.svg")} == drawn
    levels = pd.read_csv(out / "tables" / "figure_levels.csv")
    arms = levels[levels["kind"] == "arm"].set_index("arm")["value"]
    assert arms.to_dict() == pytest.approx({arm: row["pass_at_1"]["value"] for arm, row in analysis["arms"].items()})
    training = pd.read_csv(out / "tables" / "figure_training.csv")
    assert len(training) == sum(map(len, steps.values()))
    assert (training["tied_fraction"] == training["tied"] / training["groups"]).all()
    text = built.read_text(encoding="utf-8")
    named = set(re.findall(r"tables/(\w+)\.csv", text))
    assert named == {path.stem for path in (out / "tables").glob("*.csv")}


def test_ids_are_unique_and_links_inside_lead_somewhere(built):
    text = built.read_text(encoding="utf-8")
    ids = re.findall(r'\bid="([^"]+)"', text)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r'(?:href="|url\()#([^")]+)', text)) <= set(ids)


def test_same_inputs_give_the_same_bytes(built, analysis, steps, verdicts, decisions, more, tmp_path):
    build(analysis, steps, verdicts, decisions, RECORDS, tmp_path, **more)
    files = sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*") if path.is_file())
    assert files == sorted(path.relative_to(built.parent) for path in built.parent.rglob("*") if path.is_file())
    assert all((tmp_path / file).read_bytes() == (built.parent / file).read_bytes() for file in files)


def test_a_study_without_training_still_has_its_page(counts_table, tmp_path):
    alone = analyse(
        counts_table(arms=("sft",), repetitions=1, templates=1), alpha=0.05, cluster="template", k=8, seed=1, draws=100
    )
    text = build(alone, {}, [], {}, {}, tmp_path).read_text(encoding="utf-8")
    assert "fewer than two arms have training runs" in text
    assert "No training step was recorded" in text
    assert "No learning probe was taken" in text


@pytest.fixture(scope="module")
def stopped_page(counts_table, steps, tmp_path_factory):
    """The page of a study in which every arm was stopped: dense by its ties gate, sparse by its trials."""
    gate = gates.ties("dense", [[1.0, 1.0]] * 9 + [[0.0, 1.0]], max_tied=0.8)
    trials = {f"sparse-seed{seed}": gates.trial(f"sparse-seed{seed}", 19, 20, max_tied=0.8) for seed in range(2)}
    decisions = trials | {"dense-seed0": gate, "dense-seed1": gate}
    alone = {"arms": ("sft",), "seed": 3}
    analysis = analyse(
        counts_table(**alone),
        alpha=0.05,
        cluster="template",
        k=8,
        seed=7,
        draws=100,
        probe=counts_table(**alone, repetitions=1),
        stopped={run: decision.reason for run, decision in decisions.items()},
        arms=["sparse", "dense"],
    )
    curves = {run: rows[:2] if run in trials else [] for run, rows in steps.items()}
    out = tmp_path_factory.mktemp("stopped")
    evidence = {run: asdict(decision) for run, decision in decisions.items()}
    return build(analysis, curves, [asdict(gate)], evidence, RECORDS, out)


def test_a_study_whose_arms_were_all_stopped_says_so_and_why(stopped_page):
    page = Page(stopped_page.read_text(encoding="utf-8"))
    text = " ".join("".join(page.words).split())
    assert "No claim about a reward shape: every training run was stopped by a gate." in text
    assert "No trained model was probed" in text
    reason = (
        "dense: 9 of 10 groups sampled from the SFT model tie (0.900, 95 % interval 0.596 to 0.982); max_tied is 0.8"
    )
    assert text.count(reason) == 7, "for both runs: the stopped, the trials, what is not in the numbers; and the gate"
    rows = {row[0]: row[1:3] for row in page.rows if row and row[1] == "no-go"}
    assert rows["sparse-seed0"] == ["no-go", "19 of 20"] and rows["dense-seed1"] == ["no-go", "9 of 10"]
    assert '"dead_on_real_groups"' in text


def test_a_study_whose_arms_were_all_stopped_shows_the_curves_of_its_trials(stopped_page):
    figures = {path.stem for path in (stopped_page.parent / "figures").glob("*.svg")}
    assert figures == {"forest", "families", "training"}
    training = pd.read_csv(stopped_page.parent / "tables" / "figure_training.csv")
    assert training.groupby("run").size().to_dict() == {"sparse-seed0": 2, "sparse-seed1": 2}


def test_provenance_is_shown_leaf_by_leaf(page):
    assert facts(RECORDS) == [
        ("study", [("study", "tiny"), ("root_seed", "20261129"), ("threads", "1")]),
        ("versions", [("python", "3.11.7"), ("scipy", "1.17.1")]),
        (
            "digests",
            [("evals.0.path", "evals/sft/rep0/rollouts.parquet"), ("evals.0.sha256", "ab" * 32)],
        ),
    ]
    assert "".join(page.words).count("ab" * 32) == 1


def test_a_job_is_shown_with_its_digests(page, built):
    row = next(row for row in page.rows if row and row[0] == "evaluation-0-sft")
    assert row[1:6] == ["1", "12.3", "c0" * 5, "–", "here"]
    assert row[6] == "evals/sft/rep0/rollouts.parquet " + "ef" * 5
    table = pd.read_csv(built.parent / "tables" / "jobs.csv")
    assert table[["job", "sha256"]].to_numpy().tolist() == [["evaluation-0-sft", "ef" * 32]]
