"""The generator as a whole: repeatable, varied, and within the contract."""

import re
from collections import Counter
from functools import cache
from random import Random

import pytest

from tiebreak.audits.breadth import distinct
from tiebreak.domains.rust.blueprints import Blueprint, to_line
from tiebreak.domains.rust.corpus import TEMPLATES as OLD_TEMPLATES
from tiebreak.domains.rust.generator import FAMILIES, generate
from tiebreak.domains.rust.generator.catalogue import TEMPLATES
from tiebreak.domains.rust.generator.sketch import COMPILER_KINDS, KINDS
from tiebreak.domains.rust.shared_code import forms
from tiebreak.errors import ConfigError

PUBLISHED_CATEGORIES = {
    "sorting_ranking_tiebreaks",
    "aggregation_reporting",
    "parsing_validation",
    "state_transitions",
    "iterator_filter_map_logic",
    "match_enum_branch_logic",
    "config_merge_precedence",
    "interval_overlap_booking",
}


@cache
def sample() -> list[Blueprint]:
    return generate("all", 3000, 20261129)


def test_the_same_seed_gives_the_same_bytes_and_another_seed_other_crates() -> None:
    first, again, other = (generate("all", 60, seed) for seed in (5, 5, 6))
    assert [to_line(item) for item in first] == [to_line(item) for item in again]
    assert not {item.files[item.source_path] for item in first} & {item.files[item.source_path] for item in other}


def test_a_longer_list_begins_with_the_shorter_one() -> None:
    assert generate("all", 80, 5)[:60] == generate("all", 60, 5)


def test_ids_and_sources_are_unique_and_ids_are_words() -> None:
    ids, sources = [item.case_id for item in sample()], [item.files[item.source_path] for item in sample()]
    assert len(set(ids)) == len(set(sources)) == len(sample())
    assert all(re.fullmatch(r"[a-z]+_[a-z]+_[a-z]+", name) for name in ids)


def test_breadth_templates_kinds_families_difficulties() -> None:
    items = sample()
    assert {item.template for item in items} == set(TEMPLATES) and len(TEMPLATES) >= 34
    assert {item.bug_kind for item in items} - {""} == set(KINDS) and len(KINDS) >= 16
    assert {item.bug_category for item in items} == PUBLISHED_CATEGORIES | {
        f"compiler_{kind}" for kind in COMPILER_KINDS
    }
    assert {item.difficulty for item in items} == {"easy", "medium", "hard"}


def test_each_category_has_three_templates_and_each_way_not_to_compile_two() -> None:
    assert min(Counter(template.category for template in TEMPLATES.values()).values()) >= 3
    for kind in COMPILER_KINDS:
        having = {
            name
            for name, template in TEMPLATES.items()
            for seed in range(4)
            for place in template.draw(Random(seed)).sites
            for wrong in place.wrongs
            if wrong.kind == kind and wrong.twin is None
        }
        assert len(having) >= 2, kind


@pytest.mark.parametrize("name", TEMPLATES)
def test_each_template_serves_all_families_and_difficulties(name: str) -> None:
    for family in FAMILIES:
        items = generate([name], 6, 3, {family: 1.0}, keys=lambda item: [item.case_id])
        assert {item.family for item in items} == {family}
    difficulties = {item.difficulty for item in generate([name], 40, 3, keys=lambda item: [item.case_id])}
    assert difficulties == {"easy", "medium", "hard"}


@pytest.mark.parametrize("name", sorted(set(TEMPLATES) - set(OLD_TEMPLATES)))
def test_three_of_four_crates_of_a_template_are_no_near_duplicates(name: str) -> None:
    items = generate([name], 80, 5, keys=lambda item: [item.case_id])
    assert len(distinct([(item.case_id, forms(item)) for item in items], 0.92)) >= 60


def test_families_come_in_the_proportions_asked_for() -> None:
    found = Counter(item.family for item in sample())
    for family, share in FAMILIES.items():
        assert abs(found[family] / len(sample()) - share) < 0.03
    only = generate("all", 20, 1, {"run_only": 1.0})
    assert {item.family for item in only} == {"run_only"}


def test_chosen_templates_are_the_only_ones() -> None:
    assert {item.template for item in generate(["bands", "overlap"], 50, 1)} == {"bands", "overlap"}


@pytest.mark.parametrize("names", [["bandz"], []])
def test_an_unknown_template_or_none_is_a_config_error(names: list[str]) -> None:
    with pytest.raises(ConfigError, match="templates"):
        generate(names, 5, 1)


def test_an_unknown_family_is_a_config_error() -> None:
    with pytest.raises(ConfigError, match="patch_all"):
        generate("all", 5, 1, {"patch_all": 1.0})  # type: ignore[dict-item]


def test_no_text_holds_a_backtick_and_every_one_is_short_ascii() -> None:
    for item in sample():
        line = to_line(item)
        assert "`" not in line and line.isascii()
        assert len(item.files[item.source_path]) < 1100


def test_numbers_have_at_most_three_digits() -> None:
    for item in sample():
        assert not re.search(r"\d{4}", item.files[item.source_path] + item.user), item.case_id


def test_every_case_says_where_it_came_from_and_has_hidden_checks() -> None:
    for item in sample():
        assert item.generator and item.template and item.seed > 0
        assert 1 <= len(item.hidden_checks) <= 4
        shown = item.files[item.source_path]
        assert not any(f"assert_eq!({check.expr}," in shown for check in item.hidden_checks)


def test_each_patch_replaces_one_whole_line_that_stands_once() -> None:
    for item in sample():
        text = item.files[item.source_path]
        for step in item.steps:
            if step.tool == "apply_patch":
                assert step.find and step.replace and "\n" not in step.find + step.replace
                assert text.count(step.find) == 1 and f"\n{step.find}\n" in f"\n{text}", item.case_id
                text = text.replace(step.find, step.replace)
        assert text.count("#[cfg(test)]") == (0 if item.runs else 1)


def test_recover_plans_mend_their_own_wrong_line() -> None:
    recover = [item for item in sample() if item.family.endswith("recover")]
    assert recover
    for item in recover:
        first, second = [step for step in item.steps if step.tool == "apply_patch"]
        assert second.find == first.replace and second.replace not in (first.find, first.replace)
        assert [step.expect_status for step in item.steps if step.expect_status] == ["failed", "success"]


def attempts(item: Blueprint) -> int:
    return sum(step.tool == "apply_patch" for step in item.steps)


def test_chains_have_up_to_six_attempts_and_two_where_nothing_is_asked() -> None:
    assert generate("all", 60, 5, attempts=2) == generate("all", 60, 5)
    items = generate("all", 900, 5, attempts=6)
    counts = Counter(attempts(item) for item in items if item.family.endswith("recover"))
    assert set(counts) == {2, 3, 4, 5, 6} and min(counts.values()) > 30
    assert {attempts(item) for item in items if item.family.endswith("pass")} == {1}
    for depth in counts:
        assert len({item.template for item in items if attempts(item) == depth}) >= 10


def test_each_patch_of_a_chain_mends_the_one_before_and_no_line_comes_twice() -> None:
    for item in generate("all", 300, 6, {"patch_test_recover": 1.0, "patch_run_recover": 1.0}, attempts=6):
        patches = [step for step in item.steps if step.tool == "apply_patch"]
        assert [step.replace for step in patches[:-1]] == [step.find for step in patches[1:]]
        assert len({patches[0].find, *(step.replace for step in patches)}) == len(patches) + 1
        statuses = [step.expect_status for step in item.steps if step.expect_status]
        assert statuses == ["failed"] * (len(patches) - 1) + ["success"]


def test_only_families_plan_one_cargo_call_and_report() -> None:
    for item in sample():
        if item.family.endswith("only"):
            assert [step.tool for step in item.steps] == [item.cargo_tool] and item.bug_kind == ""
        if item.family == "run_only":
            assert item.expected_output is not None
            assert " then ".join(item.expected_output.split("\n")) in item.final
