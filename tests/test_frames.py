"""What was appended whole survives every cut of the file."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiebreak.frames import append_frame, read_frames

FRAMES = [[{"a": 1}, {"a": "ü\ud800"}], [], [{"b": None}]]


def test_frames_come_back_in_order(tmp_path: Path) -> None:
    for rows in FRAMES:
        append_frame(tmp_path / "f", rows)
    assert read_frames(tmp_path / "f") == FRAMES


def test_no_file_is_no_frames(tmp_path: Path) -> None:
    assert read_frames(tmp_path / "f") == []


@pytest.mark.parametrize("damage", ["cut", "flip"])
def test_a_torn_end_is_cut_off_and_the_file_goes_on(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "f"
    for rows in FRAMES[:2]:
        append_frame(path, rows)
    whole = path.read_bytes()
    append_frame(path, FRAMES[2])
    tail = path.read_bytes()[len(whole) :]
    for length in range(len(tail)):
        torn = tail[:length] if damage == "cut" else tail[:length] + bytes([tail[length] ^ 0xFF]) + tail[length + 1 :]
        path.write_bytes(whole + torn)
        assert read_frames(path) == FRAMES[:2]
        assert path.read_bytes() == whole
    append_frame(path, FRAMES[2])
    assert read_frames(path) == FRAMES


@given(
    st.lists(
        st.lists(st.dictionaries(st.text(max_size=3), st.integers() | st.text(max_size=5)), max_size=3), max_size=4
    )
)
def test_any_rows_round_trip(tmp_path_factory: pytest.TempPathFactory, frames: list[list[dict[str, object]]]) -> None:
    path = tmp_path_factory.mktemp("frames") / "f"
    for rows in frames:
        append_frame(path, rows)
    assert read_frames(path) == frames
