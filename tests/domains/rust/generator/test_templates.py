"""Each template: its lines, and its Python twins held against Rust."""

import re
from collections.abc import Iterator
from random import Random

import pytest

from tiebreak.domains.rust.asks import Ask
from tiebreak.domains.rust.generator.catalogue import TEMPLATES
from tiebreak.domains.rust.generator.frame import MANIFEST_TEXT
from tiebreak.domains.rust.generator.sketch import KINDS, Site, Sketch, Twin, Wrong, site, swap
from tiebreak.domains.rust.generator.values import debug
from tiebreak.domains.rust.verdicts import Judge

INPUTS = 6


@pytest.mark.parametrize("name", TEMPLATES)
def test_every_line_stands_once_and_every_wrong_line_is_another_of_a_known_kind(name: str) -> None:
    for seed in range(200):
        sketch = TEMPLATES[name].draw(Random(seed))
        assert sketch.code.count("DOC\n") == 1
        for place in sketch.sites:
            assert sketch.code.count(f"{place.right}\n") == 1 and place.wrongs
            for wrong in place.wrongs:
                assert wrong.line != place.right and wrong.kind in KINDS


@pytest.mark.parametrize("name", TEMPLATES)
def test_no_drawn_name_meets_a_fixed_one(name: str) -> None:
    for seed in range(600):
        bound = re.findall(r"(?:let (?:mut )?|for &?)(\w+)(?: =|: | in )", TEMPLATES[name].draw(Random(seed)).code)
        bound += re.findall(r"\bfn (\w+)", TEMPLATES[name].draw(Random(seed)).code)
        assert len(bound) == len(set(bound)), (seed, bound)


@pytest.mark.parametrize("name", TEMPLATES)
def test_most_templates_have_several_places_that_may_be_wrong(name: str) -> None:
    sketch = TEMPLATES[name].draw(Random(1))
    assert len({place.right for place in sketch.sites}) >= 2
    assert len({wrong.line for place in sketch.sites for wrong in place.wrongs}) >= 6


def asserted(sketch: Sketch, code: str, twin: Twin, rng: Random) -> Ask | None:
    """A crate whose test compares the code with the twin on drawn inputs; None where the twin has no value on any."""
    lines = []
    for _ in range(INPUTS):
        args = sketch.sample(rng)
        try:
            value = debug(twin(*args))
        except (IndexError, ZeroDivisionError):
            continue
        quoted = value.replace('"', '\\"')
        lines.append(f'        assert_eq!(format!("{{:?}}", {sketch.call(args)}), "{quoted}");\n')
    if not lines:
        return None
    test = f"#[cfg(test)]\nmod tests {{\n    use super::*;\n    #[test]\n    fn twin() {{\n{''.join(lines)}    }}\n}}\n"
    return Ask.of("cargo_test", {"Cargo.toml": MANIFEST_TEXT.format(name="twin"), "src/lib.rs": code + test})


def variants(seed: int) -> Iterator[tuple[str, Sketch, Site | None, Wrong | None]]:
    """One drawing of every template: the correct code, then each wrong line."""
    for name, template in TEMPLATES.items():
        sketch = template.draw(Random(seed))
        yield name, sketch, None, None
        for place in dict.fromkeys(sketch.sites):
            for wrong in place.wrongs:
                yield name, sketch, place, wrong


def test_rust_does_what_the_python_twins_say_and_compiles_only_where_there_is_one() -> None:
    rng, asks, labels = Random(11), [], []
    for name, sketch, place, wrong in variants(seed=7):
        code = sketch.code.replace("DOC\n", "")
        if place is not None and wrong is not None:
            code = code.replace(place.right, wrong.line)
        twin = wrong.twin if wrong is not None and wrong.twin is not None else sketch.twin
        ask = asserted(sketch, code, twin, rng)
        if ask is not None:
            asks.append(ask)
            labels.append((name, wrong.line if wrong else "correct", wrong is None or wrong.twin is not None))
    assert len(asks) > 200
    verdicts = Judge(None, diagnostics="short")(asks)
    for (name, line, compiles), verdict in zip(labels, verdicts, strict=True):
        assert verdict.compiled == compiles, (name, line, verdict.stderr)
        assert verdict.ok == compiles, (name, line, verdict.stdout)


@pytest.mark.parametrize(
    ("kind", "codes"),
    [
        ("move", {"E0382"}),
        ("lifetime", {"E0106", "E0261", "E0515", "E0621"}),
    ],
)
def test_a_wrong_move_or_lifetime_is_one_to_rustc(kind: str, codes: set[str]) -> None:
    asks = []
    for _, sketch, place, wrong in variants(seed=5):
        if place is not None and wrong is not None and wrong.kind == kind:
            code = sketch.code.replace("DOC\n", "").replace(place.right, wrong.line)
            asks.append(Ask.of("cargo_test", {"Cargo.toml": MANIFEST_TEXT.format(name="kind"), "src/lib.rs": code}))
    assert len(asks) >= 5
    for verdict in Judge(None, diagnostics="short")(asks):
        assert set(re.findall(r"error\[(E\d+)\]", verdict.stderr)) <= codes and not verdict.compiled, verdict.stderr


def test_swap_refuses_a_text_that_is_not_there_once() -> None:
    assert swap("a + b", "+", "-") == "a - b"
    for line in ("a + b + c", "a - b"):
        with pytest.raises(ValueError, match="once"):
            swap(line, "+", "*")


def test_site_makes_a_wrong_line_of_each_change() -> None:
    made = site("x < 3", ("strictness", "<", "<=", None), ("constant", "3", "4", None))
    assert [wrong.line for wrong in made.wrongs] == ["x <= 3", "x < 4"]
