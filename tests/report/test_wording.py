import pytest

from tiebreak.report.wording import duration, interval, many, short


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(None, "–"), (59.4, "59 s"), (60, "1.0 min"), (3569, "59.5 min"), (3599, "1 h 00 min"), (7500, "2 h 05 min")],
)
def test_a_duration_is_in_the_unit_that_it_needs(seconds, text):
    assert duration(seconds) == text


def test_nothing_is_a_dash():
    assert [interval(None), many(None), many(float("nan")), short(None)] == ["–"] * 4
    assert interval({"value": 0.5, "low": None, "high": None}) == "0.500"
    assert many(1234567) == "1,234,567"
