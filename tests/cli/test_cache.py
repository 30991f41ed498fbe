"""`tiebreak cache`: what it counts, what it frees, and what it leaves alone."""

import json
import os
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from tiebreak.cli import main
from tiebreak.cli.cache import size_of
from tiebreak.domains.rust.asks import Ask
from tiebreak.domains.rust.verdicts import Judge
from tiebreak.errors import ConfigError
from tiebreak.sandbox.cache import SUFFIX, Cache, key_of

MANIFEST = '[package]\nname = "sample"\nversion = "0.1.0"\nedition = "2021"\n'
ASK = Ask.of("cargo_run", {"Cargo.toml": MANIFEST, "src/main.rs": 'fn main() { println!("4"); }\n'})


def fill(folder: Path, number: int, changed: int) -> Path:
    """A segment that nobody writes any more, with ten random values of 1,000 bytes."""
    before = set(folder.glob(f"*{SUFFIX}"))
    Cache(folder).put_many({key_of(bytes([number, item])): os.urandom(1000) for item in range(10)})
    (segment,) = set(folder.glob(f"*{SUFFIX}")) - before
    os.utime(segment, (changed, changed))
    return segment


def shown(capsys: pytest.CaptureFixture[str], *arguments: str, status: int = 0) -> dict[str, Any]:
    assert main(["cache", "--json", *arguments]) == status
    (line,) = capsys.readouterr().out.splitlines()
    return dict(json.loads(line))


def failure(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["cache", *arguments]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    return said.err


def test_records_keys_bytes_and_damage_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, second = fill(tmp_path, 1, 1_000), fill(tmp_path, 2, 2_000)
    again = fill(tmp_path, 2, 90_000)
    (tmp_path / "notes.segment").write_text("not ours")
    size = sum(path.stat().st_size for path in (first, second, again))
    whole = {
        "folder": str(tmp_path),
        "segments": 3,
        "being_written": 0,
        "bytes": size,
        "records": 30,
        "keys": 20,
        "damaged": 0,
        "oldest": "1970-01-01T00:16:40+00:00",
        "newest": "1970-01-02T01:00:00+00:00",
    }
    assert shown(capsys, str(tmp_path)) == whole
    raw = bytearray(first.read_bytes())
    raw[200] ^= 1
    first.write_bytes(raw)
    second.write_bytes(second.read_bytes()[:-1])
    found = shown(capsys, str(tmp_path))
    assert (found["records"], found["keys"], found["damaged"], found["bytes"]) == (28, 19, 2, size - 1)
    assert main(["cache", str(tmp_path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == str(tmp_path)
    assert dict(line.split(maxsplit=1) for line in lines[1:])["records"] == "28, 19 distinct keys"


def test_the_oldest_segments_go_until_it_fits(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    segments = [fill(tmp_path, number, changed) for number, changed in ((1, 3_000), (2, 1_000), (3, 2_000))]
    (tmp_path / "notes.segment").write_text("not ours")
    sizes = [path.stat().st_size for path in segments]
    found = shown(capsys, str(tmp_path), "--prune", str(sizes[0]))
    assert found["pruned"] == {"segments": 2, "bytes": sizes[1] + sizes[2], "busy": 0, "left": sizes[0]}
    assert [path.exists() for path in segments] == [True, False, False]
    assert (found["segments"], found["records"], found["bytes"]) == (1, 10, sizes[0])
    assert shown(capsys, str(tmp_path), "--prune", "1GB")["pruned"]["segments"] == 0
    assert main(["cache", str(tmp_path), "--prune", "0"]) == 0
    assert f"freed      {sizes[0] / 1000:.1f} kB ({sizes[0]:,} bytes) in 1 segments" in capsys.readouterr().out
    assert [path.name for path in tmp_path.iterdir()] == ["notes.segment"]


def test_what_is_being_written_stays(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    writer = Cache(tmp_path)
    writer.put_many({key_of(b"live"): b"value"})
    fill(tmp_path, 1, int(datetime.now().timestamp()) + 60)
    found = shown(capsys, str(tmp_path), "--prune", "0", status=1)
    assert (found["pruned"]["segments"], found["pruned"]["busy"]) == (1, 1)
    assert (found["segments"], found["being_written"], found["records"]) == (1, 1, 1)
    assert Cache(tmp_path).get_many([key_of(b"live")]) == [b"value"]
    del writer
    assert shown(capsys, str(tmp_path), "--prune", "0")["segments"] == 0


def test_verdicts_are_counted_and_found_again_once_pruned(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert "there is no verdict cache; the first job of a study makes results/.cache/verdicts" in failure(capsys)
    folder = tmp_path / "results" / ".cache" / "verdicts"
    judge = Judge(folder)
    verdict = judge([ASK])
    assert verdict[0].stdout == "4\n"
    assert (shown(capsys)["records"], shown(capsys)["being_written"]) == (1, 1)
    other = Judge(folder)
    assert (other([ASK]), other.ran) == (verdict, 0)
    del judge
    assert shown(capsys, "--prune", "0")["records"] == 0
    assert (other([ASK]), other.ran) == (verdict, 1)
    assert shown(capsys)["records"] == 1


def test_folders_that_are_no_cache_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert f"{tmp_path}/none: there is no verdict cache" in failure(capsys, str(tmp_path / "none"))
    (tmp_path / "file").touch()
    assert "file: Not a directory" in failure(capsys, str(tmp_path / "file"), "--prune", "0")
    found = shown(capsys, str(tmp_path))
    assert (found["segments"], found["oldest"], found["newest"]) == (0, None, None)
    assert main(["cache", str(tmp_path)]) == 0
    assert "oldest     none" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("0", 0),
        ("4096", 4096),
        ("12b", 12),
        ("500MB", 500_000_000),
        ("500 mb", 500_000_000),
        ("1.5k", 1500),
        ("2GiB", 2 << 30),
        ("1Ti", 1 << 40),
    ],
)
def test_sizes_are_understood(text: str, size: int) -> None:
    assert size_of(text) == size


@pytest.mark.parametrize("text", ["", "MB", "-1", "1e9", "5 parsecs", "1.5.2GB", "nan", "1iB", "٣", "9" * 30, "1GBB"])
def test_other_sizes_are_refused(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ConfigError, match="expected a size as in 500MB"):
        size_of(text)
    segment = fill(tmp_path, 1, 1)
    assert "--prune: found" in failure(capsys, str(tmp_path), f"--prune={text}")
    assert segment.exists()
