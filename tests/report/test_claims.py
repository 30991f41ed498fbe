"""Claims: this repository's own hold, and what drifts, is typed, unknown or torn is found and named."""

import json
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from tiebreak.cli import main
from tiebreak.digest import file_digest
from tiebreak.errors import ConfigError, DataError
from tiebreak.report.claim_check import check, write
from tiebreak.report.claim_marks import rendered, stale, typed

ROOT = Path(__file__).parents[2]
TEXT = """# Title

3 lines of no results.

<!-- results -->
It takes <!-- claim:seconds -->1.50 s<!-- /claim --> for pass@8, see [page 2](a/3.svg) and `./f --n 4`.
<!-- /results -->
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository with one artifact, one claim and one document, all well."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "kept.json").write_text('{"rows": [{"seconds": 1.5}]}')
    (tmp_path / "README.md").write_text(TEXT.replace("[page 2]", "[a page]"), encoding="utf-8")
    relist(tmp_path)
    return tmp_path


def relist(root: Path, **parts: object) -> None:
    """Write the list, with other parts than usual."""
    found = {
        "artifacts": {"kept": {"file": "docs/kept.json", "sha256": file_digest(root / "docs" / "kept.json")}},
        "claims": {"seconds": {"artifact": "kept", "path": ["rows", 0, "seconds"], "form": "{:.2f} s"}},
        "retired": [{"name": "first", "said": "12 s", "reason": "never kept"}],
    }
    (root / "docs" / "claims.yaml").write_text(yaml.safe_dump(found | parts), encoding="utf-8")


def test_the_claims_of_this_repository_hold() -> None:
    assert check(ROOT)["problems"] == [], "see `./dev tiebreak claims`; `--write` renders what the artifacts say"


def test_a_good_repository_lists_what_was_retired(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["claims", "--root", str(root)]) == 0
    assert capsys.readouterr().out == "retired: first: 12 s: never kept\n1 claims, 1 retired, 0 problems\n"
    assert main(["claims", "--root", str(root), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["claims"] == {"seconds": "1.50 s"}


@pytest.mark.parametrize("written", ["p = .05", "(.7)", "−.5", "_0.42_", "__12__", "`p = 0.003`", "½", "67 %", "+2"])
def test_a_number_in_any_dress_is_a_number_by_hand(root: Path, written: str) -> None:
    readme = root / "README.md"
    readme.write_text(readme.read_text(encoding="utf-8").replace("for pass@8", f"for {written}"), encoding="utf-8")
    assert len(check(root)["problems"]) == 1


@pytest.mark.parametrize("form", ["4711", "67 %", "{} of {}", "{{}}"])
def test_a_form_writes_the_value_and_once(root: Path, form: str) -> None:
    claim = {"artifact": "kept", "path": ["rows", 0, "seconds"], "form": form}
    relist(root, claims={"seconds": claim})
    with pytest.raises(ConfigError, match="places for the value; one is expected"):
        check(root)


@pytest.mark.parametrize("mark", ["<!--results-->", "<!-- Results -->", "<!--claim:x-->", "<!-- /RESULTS -->"])
def test_a_mark_that_is_written_otherwise_is_torn(root: Path, mark: str) -> None:
    with (root / "README.md").open("a", encoding="utf-8") as file:
        file.write(mark)
    with pytest.raises(DataError, match="this mark has no partner"):
        check(root)


def test_a_figure_that_is_another_is_named(root: Path) -> None:
    figure = root / "docs" / "kept.svg"
    figure.write_text("<svg/>")
    relist(root, figures={"forest": {"file": "docs/kept.svg", "sha256": file_digest(figure)}})
    assert check(root)["problems"] == []
    figure.write_text("<svg></svg>")
    assert len(check(root)["problems"]) == 1
    write(root)
    assert check(root)["problems"] == []


def test_a_block_that_nobody_knows_or_nobody_shows_is_a_problem(root: Path) -> None:
    relist(root, blocks={"other": "kept"})
    with pytest.raises(ConfigError, match="other is no block; known are laptop"):
        check(root)


def test_an_edited_number_is_stale_and_written_anew(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    readme, good = root / "README.md", (root / "README.md").read_text(encoding="utf-8")
    readme.write_text(good.replace("1.50", "1.25"), encoding="utf-8")
    assert check(root)["problems"] == ["README.md:6: claim seconds: found '1.25 s', expected '1.50 s'"]
    assert main(["claims", "--root", str(root)]) == 1
    assert main(["claims", "--root", str(root), "--write"]) == 0
    assert readme.read_text(encoding="utf-8") == good


def test_an_edited_artifact_is_named_until_it_is_accepted(root: Path) -> None:
    (root / "docs" / "kept.json").write_text('{"rows": [{"seconds": 2.25}]}')
    first, second = check(root)["problems"]
    assert first.startswith("docs/kept.json: its SHA-256 is ") and "tiebreak claims --write" in first
    assert second == "README.md:6: claim seconds: found '1.50 s', expected '2.25 s'"
    assert len(write(root)) == 2 and check(root)["problems"] == []


def test_a_number_by_hand_in_a_results_section_is_found() -> None:
    assert [(problem.line, problem.found) for problem in typed(TEXT)] == [(6, "2")]
    section = "<!-- results -->\n| 2.5 × | −0.3 | 1,000 of p95, pass@8 and x_2 |\n<!-- /results -->\n9"
    assert [problem.found for problem in typed(section)] == ["2.5", "−0.3", "1,000"]


@given(st.text("ab1 |`\n"), st.text("ab1 |`\n"), st.text("ab1 |`"))
def test_only_claims_are_written_and_once_is_enough(before: str, after: str, old: str) -> None:
    text = f"{before}<!-- claim:x -->{old}<!-- /claim -->{after}"
    new = rendered(text, {"x": "2.5 s"}, {})
    assert new == f"{before}<!-- claim:x -->2.5 s<!-- /claim -->{after}" == rendered(new, {"x": "2.5 s"}, {})
    assert stale(new, {"x": "2.5 s"}, {}) == [] and bool(stale(text, {"x": "2.5 s"}, {})) == (old != "2.5 s")


def test_a_claim_that_is_retired_or_unknown_or_unused_is_a_problem(root: Path) -> None:
    relist(root, claims={"other": {"artifact": "kept", "path": ["rows"], "form": "{}"}})
    first, second = check(root)["problems"]
    assert first.startswith("README.md:6: claim seconds: found '1.50 s', expected 'nothing: no such name")
    assert second == "docs/claims.yaml: other is in no document; remove it, or retire it"


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"claims": {"x": {"artifact": "gone", "path": []}}}, r"x: no artifact 'gone'; known are kept"),
        ({"claims": {"first": {"artifact": "kept", "path": []}}}, r"first is claimed and retired"),
        ({"claims": {"x": {"artifact": "kept"}}}, r"claims\.x\.path: field required"),
        ({"more": 1}, r"more: extra inputs are not permitted"),
    ],
)
def test_a_list_that_cannot_be_used_says_where(root: Path, parts: dict[str, object], message: str) -> None:
    relist(root, **parts)
    with pytest.raises(ConfigError, match=message):
        check(root)


@pytest.mark.parametrize(
    ("claim", "message"),
    [
        ({"path": ["rows", 1]}, r"claim seconds: the artifact kept has nothing at rows → 1"),
        ({"path": ["rows"], "form": "{:.2f}"}, r"claim seconds: .* cannot be written as '\{:\.2f\}'"),
    ],
)
def test_a_place_that_is_not_there_is_named(root: Path, claim: dict[str, object], message: str) -> None:
    relist(root, claims={"seconds": {"artifact": "kept", **claim}})
    with pytest.raises(DataError, match=message):
        check(root)


@pytest.mark.parametrize("torn", ["<!-- claim:a -->1", "2<!-- /claim -->", "<!-- results -->", "<!-- block:laptop -->"])
def test_a_mark_without_its_partner_is_named_with_its_line(root: Path, torn: str) -> None:
    (root / "docs" / "a.md").write_text(f"one\n{torn}\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"docs/a\.md:2: .*has no partner"):
        check(root)
