"""Packs: the same members give the same bytes, and come out as they went in; what no pack of ours holds is refused."""

import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiebreak.errors import DataError
from tiebreak.publish.packs import MOMENT, PLAIN_FILE, unpack, write_pack


@given(st.dictionaries(st.sampled_from(["a/b.csv", "a/c.parquet", "d.json", "e/f/g"]), st.binary(max_size=300)))
def test_members_come_out_as_they_went_in(tmp_path_factory: pytest.TempPathFactory, members: dict[str, bytes]) -> None:
    folder = tmp_path_factory.mktemp("pack")
    for name, content in members.items():
        (folder / "in" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "in" / name).write_bytes(content)
    write_pack(folder / "one.zip", folder / "in", members)
    write_pack(folder / "two.zip", folder / "in", reversed(list(members)))
    assert (folder / "one.zip").read_bytes() == (folder / "two.zip").read_bytes()
    assert sorted(unpack(folder / "one.zip", folder / "out")) == sorted(members)
    assert {name: (folder / "out" / name).read_bytes() for name in members} == members


@pytest.mark.parametrize("name", ["/etc/passwd", "../out", "a/../../out", "folder/", "a\\b"])
def test_a_member_that_leads_elsewhere_is_refused(tmp_path: Path, name: str) -> None:
    with zipfile.ZipFile(tmp_path / "bad.zip", "w") as archive:
        archive.writestr(name, "x")
    with pytest.raises(DataError, match="leads out of the pack or is no file"):
        unpack(tmp_path / "bad.zip", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_name_twice_or_a_damaged_pack_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "twice.zip", "w") as archive:
        archive.writestr("a", "1")
        with pytest.warns(UserWarning, match="Duplicate name"):
            archive.writestr("a", "2")
    with pytest.raises(DataError, match="stands there twice"):
        unpack(tmp_path / "twice.zip", tmp_path / "out")
    (tmp_path / "cut.zip").write_bytes((tmp_path / "twice.zip").read_bytes()[:40])
    with pytest.raises(DataError, match="cannot be unpacked"):
        unpack(tmp_path / "cut.zip", tmp_path / "out")


def test_a_file_that_is_there_is_not_written_over(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("mine")
    write_pack(tmp_path / "p.zip", tmp_path, ["a"])
    with pytest.raises(DataError, match="cannot be unpacked"):
        unpack(tmp_path / "p.zip", tmp_path)
    assert (tmp_path / "a").read_text() == "mine"


@pytest.mark.parametrize("damage", ["flipped", "encrypted"])
def test_a_pack_that_cannot_be_read_is_named(tmp_path: Path, damage: str) -> None:
    (tmp_path / "a").write_text("words " * 100)
    write_pack(tmp_path / "p.zip", tmp_path, ["a"])
    raw = bytearray((tmp_path / "p.zip").read_bytes())
    if damage == "encrypted":
        raw[6] |= 1
        raw[raw.find(b"PK\x01\x02") + 8] |= 1
    else:
        raw[33:45] = bytes(255 - byte for byte in raw[33:45])
    (tmp_path / "p.zip").write_bytes(raw)
    with pytest.raises(DataError, match=r"p\.zip: cannot be unpacked \("):
        unpack(tmp_path / "p.zip", tmp_path / "out")


def test_a_member_under_a_member_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "p.zip", "w") as archive:
        for name in ("a", "a/b"):
            info = zipfile.ZipInfo(name, MOMENT)
            info.external_attr = PLAIN_FILE
            archive.writestr(info, "1")
    with pytest.raises(DataError, match=r"p\.zip: cannot be unpacked"):
        unpack(tmp_path / "p.zip", tmp_path / "out")


def commented(archive: zipfile.ZipFile) -> None:
    archive.comment = b"more"


def extended(archive: zipfile.ZipFile) -> None:
    info = zipfile.ZipInfo("b")
    info.extra = b"\x99\x99\x04\x00more"
    archive.writestr(info, "1")


@pytest.mark.parametrize("hide", [commented, extended])
def test_bytes_that_belong_to_no_member_are_refused(tmp_path: Path, hide: Callable[[zipfile.ZipFile], None]) -> None:
    (tmp_path / "a").write_text("1")
    write_pack(tmp_path / "p.zip", tmp_path, ["a"])
    with zipfile.ZipFile(tmp_path / "p.zip", "a") as archive:
        hide(archive)
    with pytest.raises(DataError, match="its members come to"):
        unpack(tmp_path / "p.zip", tmp_path / "out")


def test_bytes_before_the_first_member_or_another_order_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("1")
    write_pack(tmp_path / "p.zip", tmp_path, ["a"])
    (tmp_path / "before.zip").write_bytes(b"#!/bin/sh\n" + (tmp_path / "p.zip").read_bytes())
    with pytest.raises(DataError, match="its members come to"):
        unpack(tmp_path / "before.zip", tmp_path / "out")
    with zipfile.ZipFile(tmp_path / "order.zip", "w") as archive:
        archive.writestr("b", "1")
        archive.writestr("a", "1")
    with pytest.raises(DataError, match="order of their names"):
        unpack(tmp_path / "order.zip", tmp_path / "out")


def test_bytes_behind_the_end_of_a_deflated_member_are_refused(tmp_path: Path) -> None:
    text = b"words " * 100
    deflate = zlib.compressobj(6, zlib.DEFLATED, -zlib.MAX_WBITS)
    body = deflate.compress(text) + deflate.flush() + b"hidden"
    name, sizes = b"a", (zlib.crc32(text), len(body), len(text), 1)
    first = struct.pack("<4s5H3L2H", b"PK\3\4", 20, 0, 8, 0, 33, *sizes, 0) + name + body
    shared = struct.pack("<4s6H3L5H2L", b"PK\1\2", 788, 20, 0, 8, 0, 33, *sizes, 0, 0, 0, 0, 0o100644 << 16, 0)
    end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 1, 1, len(shared + name), len(first), 0)
    (tmp_path / "p.zip").write_bytes(first + shared + name + end)
    with pytest.raises(DataError, match="member a holds bytes behind its end"):
        unpack(tmp_path / "p.zip", tmp_path / "out")


def test_a_member_with_a_time_of_its_own_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "p.zip", "w") as archive:
        archive.writestr(zipfile.ZipInfo("a", (2026, 1, 1, 0, 0, 0)), "1")
    with pytest.raises(DataError, match="member a has a time or rights of its own"):
        unpack(tmp_path / "p.zip", tmp_path / "out")
