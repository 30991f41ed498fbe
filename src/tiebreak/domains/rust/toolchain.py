"""The Rust toolchain of this machine: where it is, what it is, and how it looks from inside a sandbox."""

import hashlib
import os
import shutil
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tiebreak.errors import SandboxError
from tiebreak.sandbox.bubblewrap import Box

INSIDE = "/toolchain"
# rustc's allocator (ignored where it has another): large pages save 6 % of a compilation
ALLOCATOR = "thp:always,metadata_thp:always"
CRATE = "/crate"


@dataclass(frozen=True)
class Toolchain:
    """sysroot: the real one (no rustup proxy). target: host triple. version: `rustc -vV`. linker: the C compiler."""

    sysroot: Path
    target: str
    version: str
    linker: str

    @property
    def digest(self) -> str:
        """What of the toolchain can change a verdict: compiler version and target (hex, 16 characters)."""
        return hashlib.sha256(self.version.encode()).hexdigest()[:16]

    @property
    def rustc(self) -> str:
        """The compiler's path inside a box."""
        return f"{INSIDE}/bin/rustc"

    @property
    def cargo(self) -> str:
        """cargo's path inside a box."""
        return f"{INSIDE}/bin/cargo"

    @property
    def library_folder(self) -> str:
        """Where the shared standard library stands inside a box."""
        return f"{INSIDE}/lib/rustlib/{self.target}/lib"


def _ask(*command: str) -> str:
    """What a toolchain command prints; SandboxError with the mend if it cannot run."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("RUST_")}
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60, env=environment)
    except (OSError, subprocess.SubprocessError) as problem:
        raise SandboxError(
            f"`{' '.join(command)}` does not run ({problem}); Rust 1.95 with cargo is expected on PATH: "
            "enter `nix develop`, or install it with rustup or the system's packages"
        ) from problem
    return done.stdout.strip()


@cache
def toolchain() -> Toolchain:
    """The toolchain on PATH, resolved once. SandboxError, with the mend, where rustc, cargo or a linker is missing."""
    sysroot = Path(_ask("rustc", "--print", "sysroot"))
    if not (sysroot / "bin/cargo").exists():
        raise SandboxError(f"{sysroot}/bin holds no cargo beside rustc; install cargo for this toolchain")
    linker = shutil.which("cc")
    if linker is None:
        raise SandboxError("no C compiler (cc) on PATH, which rustc links with; install gcc")
    version = _ask(str(sysroot / "bin/rustc"), "-vV")
    target = next(line.removeprefix("host: ") for line in version.splitlines() if line.startswith("host: "))
    return Toolchain(sysroot, target, version, os.path.realpath(linker))


def compile_box(tools: Toolchain, folder: Path, *, proc: bool = False) -> Box:
    """A box with the toolchain and one writable crate, for rustc and the linker (and cargo, which wants /proc)."""
    sources = tools.sysroot / "lib/rustlib/src"  # where the standard library's sources are, diagnostics quote them
    hidden = (f"{INSIDE}/lib/rustlib/src",) if sources.is_dir() else ()
    environment = (
        ("PATH", f"{INSIDE}/bin:{os.path.dirname(tools.linker)}:/usr/bin:/bin"),
        ("LD_LIBRARY_PATH", f"{INSIDE}/lib:{tools.library_folder}"),
        ("HOME", "/tmp"),
        ("CARGO_HOME", "/tmp/cargo"),
        ("LC_ALL", "C"),
        ("MALLOC_CONF", ALLOCATOR),
        ("CARGO_CRATE_NAME", "crate"),  # rustc words some advice otherwise where it believes that cargo runs it
    )
    return Box(
        read_only=((str(tools.sysroot), INSIDE),),
        writable=((str(folder), CRATE),),
        folder=CRATE,
        environment=environment,
        proc=proc,
        hidden=hidden,
    )
