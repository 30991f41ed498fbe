"""What the verdict benchmark compares with: plain cargo, and bare rustc as the physical limit; neither is confined.

Both work in memory, as the engine does, with the real cargo and rustc (no rustup proxy), without clearing up on the
clock: whatever would make them slow for another reason is left out.
"""

import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tiebreak.domains.rust.asks import Ask
from tiebreak.domains.rust.compiler import FLAGS
from tiebreak.domains.rust.direct import TEST_ARGUMENTS
from tiebreak.domains.rust.scratch import write_files
from tiebreak.domains.rust.toolchain import toolchain

MAIN = """fn main() {{
    match std::env::args().nth(1).as_deref() {{
{arms}        _ => {{}}
    }}
}}
"""
ENTRY = "\npub fn entry_of_bare() { let _ = main(); }\n"
SECONDS = 60  # a state that runs into this is no state of the benchmark (see verdicts.py)


def _call(words: Sequence[str], folder: Path) -> int:
    return _output(words, folder)[0]


def _output(words: Sequence[str], folder: Path) -> tuple[int, str]:
    """The exit status and what was printed."""
    tools = toolchain()
    library = f"{tools.sysroot}/lib/rustlib/{tools.target}/lib"
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("CARGO", "RUST"))}
    environment = kept | {"PATH": f"{tools.sysroot}/bin:{os.environ['PATH']}", "LD_LIBRARY_PATH": library}
    done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, timeout=SECONDS, check=False)
    return done.returncode, done.stdout.decode(errors="replace")


def plain_output(tool: str, files: Mapping[str, str], folder: Path) -> tuple[int, str]:
    """Exit status and output of `cargo test` or `cargo run` on these files, in a folder that may have built before."""
    write_files(folder, files)
    return _output(["cargo", "test" if tool == "cargo_test" else "run", "--offline", "--quiet"], folder)


def plain(ask: Ask, folder: Path) -> None:
    """`cargo test` (`cargo run` for programs) in a fresh copy of the crate."""
    write_files(folder, dict(ask.files))
    _call(["cargo", "test" if ask.tool == "cargo_test" else "run", "--offline"], folder)


def bare(ask: Ask, folder: Path) -> None:
    """rustc with the engine's flags, then the program: nothing else."""
    assert ask.source is not None
    write_files(folder, dict(ask.files))
    kind = ["--test"] if ask.tool == "cargo_test" else []
    if _call(["rustc", *FLAGS, *kind, "-o", "program", ask.source], folder) == 0:
        _call(["./program", *(TEST_ARGUMENTS if kind else ())], folder)


def bare_batch(asks: Sequence[Ask], compiles: Callable[[Ask], bool], folder: Path) -> None:
    """All crates as modules of one program: one try with all, one with those that compile, and a run of each."""
    names = {f"m{number}": ask for number, ask in enumerate(asks)}
    tool = asks[0].tool
    for name, ask in names.items():
        assert ask.source is not None
        text = dict(ask.files)[ask.source]
        write_files(folder, {f"{name}.rs": text + ENTRY if tool == "cargo_run" else text})
    good = [name for name, ask in names.items() if compiles(ask)]
    kind = ["--test"] if tool == "cargo_test" else []
    for tried in (list(names), good) if len(good) < len(names) else (good,):
        (folder / "root.rs").write_text(_root(tried, tests=bool(kind)), encoding="utf-8")
        _call(["rustc", *FLAGS, "-Ccodegen-units=1", *kind, "-o", "program", "root.rs"], folder)
    for name in good:
        _call(["./program", *([f"{name}::", *TEST_ARGUMENTS] if kind else [name])], folder)


def _root(names: Iterable[str], *, tests: bool) -> str:
    modules = "".join(f"mod {name};\n" for name in names)
    if tests:
        return modules
    arms = "".join(f'        Some("{name}") => {name}::entry_of_bare(),\n' for name in names)
    return modules + MAIN.format(arms=arms)


class Workshop:
    """A folder in memory for the rivals' crates, cleared after each measurement, off the clock.

    left_by_one: bytes that each crate of the latest measurement left behind, before they were cleared.
    """

    left_by_one = 0.0

    def __init__(self, folder: Path) -> None:
        self.folder, self.made = folder, 0

    def seconds(self, one: Callable[[Ask, Path], None], asks: Sequence[Ask], workers: int = 1) -> float:
        """Wall seconds for all `asks`, each in a folder of its own, `workers` side by side."""
        places = [self._fresh() for _ in asks]
        started = time.perf_counter()
        with ThreadPoolExecutor(workers) as pool:
            list(pool.map(one, asks, places))
        return self._end(started, len(asks))

    def batch_seconds(self, parts: Sequence[Sequence[Ask]], compiles: Callable[[Ask], bool], workers: int) -> float:
        """Wall seconds for `bare_batch` on each part."""
        places = [self._fresh() for _ in parts]
        started = time.perf_counter()
        with ThreadPoolExecutor(workers) as pool:
            list(pool.map(bare_batch, parts, [compiles] * len(parts), places))
        return self._end(started, sum(map(len, parts)))

    def _fresh(self) -> Path:
        self.made += 1
        folder = self.folder / f"crate{self.made}"
        folder.mkdir(parents=True)
        return folder

    def _end(self, started: float, crates: int) -> float:
        elapsed = time.perf_counter() - started
        self.left_by_one = size_of(self.folder) / crates
        shutil.rmtree(self.folder)
        return elapsed


def size_of(folder: Path) -> int:
    """Bytes of all files under a folder; 0 where there is none."""
    paths = (Path(parent) / name for parent, _, names in os.walk(folder) for name in names)
    return sum(path.lstat().st_size for path in paths)
