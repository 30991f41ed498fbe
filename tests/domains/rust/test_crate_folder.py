"""The folder of a rollout's final files: only plain texts are read, nothing in it can hang or mislead the reader."""

import os
import socket
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiebreak.domains.rust.crate_folder import LARGEST, CrateFolder, read_crate_folder
from tiebreak.errors import DataError

LIB, MAIN = "src/lib.rs", "src/main.rs"
TEXT = "pub fn two() -> i32 {\r\n    2 // zwei, δύο\n}\n"


@pytest.fixture
def crate(tmp_path: Path) -> Path:
    """A crate with a library, in a folder of its own."""
    folder = tmp_path / "crate"
    (folder / "src").mkdir(parents=True)
    (folder / "Cargo.toml").write_text("[package]\n")
    (folder / LIB).write_bytes(TEXT.encode())
    return folder


def test_sources_are_read_as_they_are_and_nothing_else_is(crate: Path) -> None:
    (crate / "build.rs").write_bytes(b"\xff")
    (crate / "tests").symlink_to(crate)
    assert read_crate_folder(crate, [LIB]) == CrateFolder({LIB: TEXT})
    assert read_crate_folder(crate, []) == CrateFolder({})
    assert read_crate_folder(crate, ["Cargo.toml"]).files == {"Cargo.toml": "[package]\n"}


def test_a_source_that_is_not_there_is_left_out(crate: Path) -> None:
    assert read_crate_folder(crate, [LIB, MAIN]) == CrateFolder({LIB: TEXT})
    (crate / LIB).unlink()
    (crate / "src").rmdir()
    assert read_crate_folder(crate, [LIB, MAIN]) == CrateFolder({})


def test_a_hard_link_is_a_file(crate: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere.rs").write_text("pub fn other() {}\n")
    os.link(tmp_path / "elsewhere.rs", crate / MAIN)
    assert read_crate_folder(crate, [MAIN]) == CrateFolder({MAIN: "pub fn other() {}\n"})


def test_the_folder_itself_may_be_named_by_a_link(crate: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(crate)
    assert read_crate_folder(tmp_path / "link", [LIB]).files == {LIB: TEXT}


def linked(path: Path) -> None:
    target = path.with_name("target.rs")
    target.write_text(TEXT)
    path.symlink_to(target)


def device(path: Path) -> None:
    try:
        os.mknod(path, 0o600 | stat.S_IFCHR, os.makedev(1, 5))  # /dev/zero, which never ends
    except PermissionError:
        pytest.skip("making a device takes more rights than this user has")


def bound(path: Path) -> None:
    home = os.getcwd()
    with socket.socket(socket.AF_UNIX) as server:
        os.chdir(path.parent)  # a socket's path has at most some hundred characters
        try:
            server.bind(path.name)
        finally:
            os.chdir(home)


def sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(50_000_000)


ODD: dict[str, tuple[Callable[[Path], object], str]] = {
    "link": (linked, "src/main.rs is a symbolic link"),
    "dangling link": (lambda path: path.symlink_to("nowhere"), "src/main.rs is a symbolic link"),
    "link to itself": (lambda path: path.symlink_to(path.name), "src/main.rs is a symbolic link"),
    "FIFO": (os.mkfifo, "src/main.rs is a FIFO"),
    "folder": (Path.mkdir, "src/main.rs is a folder"),
    "socket": (bound, "src/main.rs is a socket"),
    "device": (device, "src/main.rs is a device"),
    "50 MB": (lambda path: path.write_bytes(b"// \n" * 12_500_000), "it has 50,000,000 bytes, at most 1,000,000"),
    "50 MB of nothing": (sparse, "it has 50,000,000 bytes"),
    "Latin-1": (lambda path: path.write_bytes("// Größe\n".encode("latin-1")), "byte 5 is no UTF-8"),
    "a surrogate": (lambda path: path.write_bytes(b"// \xed\xa0\x80\n"), "byte 3 is no UTF-8"),
}


@pytest.mark.parametrize("name", ODD)
def test_a_source_that_is_no_text_is_named_and_the_other_is_read(name: str, crate: Path) -> None:
    make, reason = ODD[name]
    make(crate / MAIN)
    found = read_crate_folder(crate, [LIB, MAIN])
    assert found.files == {LIB: TEXT}
    assert len(found.unreadable) == 1
    assert found.unreadable[0].startswith("src/main.rs cannot be read as text: ")
    assert reason in found.unreadable[0]


def test_the_largest_source_is_read_and_a_larger_one_is_not(crate: Path) -> None:
    (crate / LIB).write_bytes(b" " * LARGEST)
    assert len(read_crate_folder(crate, [LIB]).files[LIB]) == LARGEST
    (crate / LIB).write_bytes(b" " * (LARGEST + 1))
    assert read_crate_folder(crate, [LIB]).files == {}


def test_a_source_that_is_exchanged_while_it_is_read_is_not_believed(
    crate: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened, measured = os.open, os.fstat

    def exchange(make: Callable[[Path], object]) -> Callable[..., int]:
        def open_(name: str | Path, flags: int, **more: int) -> int:
            if name == "lib.rs":
                (crate / LIB).unlink()
                make(crate / LIB)
            return opened(name, flags, **more)

        return open_

    monkeypatch.setattr(os, "open", exchange(os.mkfifo))
    assert "src/lib.rs is a FIFO" in read_crate_folder(crate, [LIB]).unreadable[0]
    (crate / LIB).unlink()
    (crate / LIB).write_text(TEXT)
    monkeypatch.setattr(os, "open", exchange(linked))
    with pytest.raises(DataError, match="src/lib.rs: cannot be read: Too many levels of symbolic links"):
        read_crate_folder(crate, [LIB])
    monkeypatch.setattr(os, "open", opened)
    (crate / LIB).unlink()
    (crate / LIB).write_bytes(b" " * (LARGEST + 9))  # it grows after it was measured
    monkeypatch.setattr(os, "fstat", lambda file: os.stat_result((*measured(file)[:6], 5, *measured(file)[7:10])))
    assert "it has more than 1,000,000 bytes" in read_crate_folder(crate, [LIB]).unreadable[0]


def test_no_folder_inside_is_reached_through_a_link(crate: Path, tmp_path: Path) -> None:
    (crate / "src").rename(tmp_path / "away")
    (crate / "src").symlink_to(tmp_path / "away")
    assert read_crate_folder(crate, [LIB]).unreadable == ("src/lib.rs cannot be read as text: src is a symbolic link",)
    (crate / "src").unlink()
    (crate / "src").write_text(TEXT)
    assert read_crate_folder(crate, [LIB]).unreadable == ("src/lib.rs cannot be read as text: src is a file",)


@pytest.mark.parametrize("make", [os.mkfifo, Path.mkdir, lambda path: path.symlink_to("nowhere"), sparse])
def test_a_manifest_of_any_kind_is_one(make: Callable[[Path], object], crate: Path) -> None:
    (crate / "Cargo.toml").unlink()
    make(crate / "Cargo.toml")
    assert read_crate_folder(crate, [LIB]).files == {LIB: TEXT}


def test_a_folder_that_holds_no_crate_is_an_error(crate: Path, tmp_path: Path) -> None:
    (crate / "Cargo.toml").unlink()
    with pytest.raises(DataError, match="crate holds no Cargo.toml; the final files of a rollout are expected"):
        read_crate_folder(crate, [LIB])
    for name in ("missing", "crate/src/lib.rs"):
        with pytest.raises(DataError, match="a folder with the final files of a rollout is expected"):
            read_crate_folder(tmp_path / name, [LIB])
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(DataError, match="fifo: Not a directory"):
        read_crate_folder(tmp_path / "fifo", [LIB])


def test_no_descriptor_is_left_open(crate: Path) -> None:
    os.mkfifo(crate / MAIN)
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(3):
        read_crate_folder(crate, [LIB, MAIN, "lib.rs"])
        with pytest.raises(DataError):
            read_crate_folder(crate / "src", [LIB])
    assert len(os.listdir("/proc/self/fd")) == before


@given(st.binary(max_size=40))
def test_any_bytes_are_a_text_or_a_reason(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    folder = tmp_path_factory.mktemp("any")
    (folder / "Cargo.toml").touch()
    (folder / "lib.rs").write_bytes(content)
    found = read_crate_folder(folder, ["lib.rs"])
    if found.unreadable:
        with pytest.raises(UnicodeDecodeError):
            content.decode()
    else:
        assert found.files["lib.rs"].encode() == content
