"""The warm-up's exercises: what is learned can be copied, code is right, and nothing of a task is told."""

import contextlib
import io
import re
from itertools import islice
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiebreak.domains.fathom.corpus import LISTS, episodes, mixed, piece, repeats, spelled
from tiebreak.domains.fathom.frames import FRAMES, frame
from tiebreak.domains.fathom.generator import combined, distinct, how_many, parts_of, sentences
from tiebreak.domains.fathom.templates import TEMPLATES, shown
from tiebreak.domains.fathom.traces import code
from tiebreak.domains.words import pick, words


def test_repeats_are_words_said_again() -> None:
    for source, copy in islice(repeats(Random(1)), 50):
        assert source["content"] == copy["content"] and (source["loss"], copy["loss"]) == (False, True)
        assert len(source["content"].split()) >= 6
    assert {piece(Random(seed)).isdigit() for seed in range(40)} == {True, False}


def test_an_episode_can_be_written_by_copying() -> None:
    for system, user, asked, printed, answered in islice(episodes(Random(2)), 300):
        assert [system["loss"], user["loss"], asked["loss"], printed["loss"], answered["loss"]] == [0, 0, 1, 0, 1]
        question = user["content"].split("\n\n[Document excerpt]:\n")[0]
        names = {shown(name, word) for name in LISTS for word in words(name)} - {"number", "count"}
        assert names & set(re.findall(r"\w+", asked["content"])) <= set(re.findall(r"\w+", question)) | {"sum", "open"}
        answer = answered["content"].removeprefix("<answer>").removesuffix("</answer>")
        assert answer in printed["content"]
        assert ("llm(" in asked["content"]) == (answer != printed["content"])


@given(st.integers(0, 2**32))
def test_the_code_of_a_frame_prints_what_its_sentences_come_to(seed: int) -> None:
    rng = Random(seed)
    form = frame(rng)
    key, count = shown(form.keys, pick(rng, form.keys)), how_many(form, rng)
    parts, besides = parts_of(form, rng, count)
    values = distinct(form, rng, count)
    others = sentences(form, key, besides, distinct(form, rng, len(besides)))
    text = " ".join([*others, *sentences(form, key, parts, values)])
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(code(form, key, parts), {"ctx": text})
    assert out.getvalue().strip() == combined(form, values)
    assert "{word}" not in form.question + form.sentence


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda template: template.name)
def test_no_frame_is_a_task(template) -> None:
    def shape(text: str) -> str:
        return re.sub(r"\{\w+\}", r"\\w+", re.escape(text).replace(r"\{", "{").replace(r"\}", "}"))

    asked = template.question.format(key="Anna", parts="posts and halls", count=3)
    said = template.sentence.format(key="Anna", part="hall", value="value")
    for form in FRAMES:
        assert not re.fullmatch(shape(form.question), asked)
        assert not re.fullmatch(shape(form.sentence), said)


def test_the_later_stage_has_both_kinds() -> None:
    assert {len(turns) for turns in islice(mixed(Random(3)), 40)} == {2, 5}


def test_every_word_is_spelled_between_marks() -> None:
    assert {word for line in spelled() for word in line.split("|")} == {
        shown(name, word) for name in LISTS for word in words(name)
    }
