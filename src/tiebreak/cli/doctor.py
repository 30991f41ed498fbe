"""`tiebreak doctor`: what this machine can do, and what a study would miss on it."""

import argparse
import json
import os
import platform
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from tiebreak.devices import devices
from tiebreak.digest import pinned_versions
from tiebreak.errors import SandboxError

if TYPE_CHECKING:
    from tiebreak.study import Study

ROOT = Path(__file__).resolve().parents[3]
GIB = 1 << 30
MEMORY = 6 * GIB  # what the laptop study stays under
SMALL = 5 * GIB  # of disk: the same, with room for its records


@dataclass(frozen=True)
class Finding:
    """One thing looked at. A `missing` one stops studies; a `warning` may cost time or comparability."""

    subject: str
    state: Literal["ok", "warning", "missing"]
    found: str
    mend: str = ""


def register(subparsers: Any) -> None:
    """Add the parser of `tiebreak doctor`."""
    text = "what this machine can do, and what a study would miss"
    parser = subparsers.add_parser("doctor", help=text, description=f"{text}; exit status 1 if something is missing")
    parser.add_argument(
        "--study", metavar="NAME", help="also check this study's needs: a name in config/studies or a path"
    )
    parser.add_argument("--json", action="store_true", help="print a JSON list of findings")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the findings; 1 if something needed is missing, else 0."""
    findings = list(examine(arguments.study))
    if arguments.json:
        print(json.dumps([asdict(finding) for finding in findings], indent=2))
    else:
        print("\n".join(render(finding) for finding in findings))
    return 1 if any(finding.state == "missing" for finding in findings) else 0


def render(finding: Finding) -> str:
    """A line for people, and one more with the mend if there is any."""
    line = f"{finding.state:8} {finding.subject:11} {finding.found}"
    return f"{line}\n{'':21}{finding.mend}" if finding.mend else line


def examine(name: str | None) -> Iterator[Finding]:
    """Look at everything; a study that cannot be read raises ConfigError before the slow looks."""
    from tiebreak.cli.doctor_study import look_at_prime_rl, look_at_study

    study = load_study(name) if name else None
    gpus_needed = max(study.gpus(stage) for stage in ("sft", "rlvr", "evaluation")) if study else 0
    yield Finding("python", "ok", f"{platform.python_version()} on {platform.system()} {platform.machine()}")
    yield from look_at_torch(gpus_needed)
    if study is None or study.domain == "rust":
        yield look_at_rust("rustc")
        yield look_at_rust("cargo")
        yield look_at_linker()
    yield look_at_sandbox()
    yield look_at_limits()
    yield Finding("cores", "ok", str(len(os.sched_getaffinity(0))))
    yield look_at_memory(memory_bytes())
    if study is None:
        yield look_at_disk(free_bytes())
    else:
        yield from [*look_at_prime_rl(study), *look_at_study(study)]


def load_study(name: str) -> "Study":
    """The study of a name, or of a path as the user sees it."""
    from tiebreak.study import load

    is_file = name.endswith((".yaml", ".yml")) and Path(name).is_file()
    return load(Path(name).resolve() if is_file else name, ROOT)


def look_at_torch(gpus_needed: int) -> Iterator[Finding]:
    """Torch's build and threads, and the GPUs that it sees."""
    try:
        import torch
    except (ImportError, OSError) as error:
        yield Finding("torch", "missing", str(error), "./dev --sync installs it")
        return
    yield Finding("torch", "ok", f"{torch.__version__}, {torch.get_num_threads()} threads")
    names = [torch.cuda.get_device_name(index) for index in range(torch.cuda.device_count())]
    if len(names) >= gpus_needed:
        yield Finding("gpus", "ok", ", ".join(names) or "none (studies on the CPU need none)")
    elif torch.version.cuda is None and (here := devices()):
        found = f"{len(here)} ({', '.join(here)}), and {torch.__version__} cannot use them"
        yield Finding("gpus", "missing", found, "TIEBREAK_TORCH=cuda ./dev …, or `nix develop .#gpu`")
    else:
        mend = f"the study's largest job takes {gpus_needed}; run it on such a machine or cluster, or lower `gpus`"
        yield Finding("gpus", "missing", ", ".join(names) or "none", mend)


def look_at_rust(program: str) -> Finding:
    """The version of rustc or cargo beside the pinned one."""
    pinned = pinned_versions(ROOT)
    try:
        answer = subprocess.run([program, "--version"], capture_output=True, text=True)
    except OSError:
        return Finding(program, "missing", "not on PATH", "./dev --sync, or rustup.rs, or `nix develop`")
    found = re.match(rf"{program} (\d+)\.(\d+)", answer.stdout)
    if found is None:
        return Finding(program, "missing", f"does not run: {answer.stderr.strip()}", "rustup default stable")
    version = answer.stdout.strip()
    if number(".".join(found.groups())) < number(pinned["oldest_rust"]):
        return Finding(
            program, "missing", version, f"edition 2021 needs {pinned['oldest_rust']}; install {pinned['rust']}"
        )
    if ".".join(found.groups()) != pinned["rust"]:
        return Finding(program, "warning", version, f"{pinned['rust']} is pinned; compiler messages may differ")
    return Finding(program, "ok", version)


def number(version: str) -> tuple[int, ...]:
    """A version's parts as integers, for comparing."""
    return tuple(int(part) for part in version.split("."))


def look_at_linker() -> Finding:
    """rustc links with `cc`."""
    found = shutil.which("cc")
    return Finding("linker", "ok", found) if found else Finding("linker", "missing", "no cc on PATH", "install gcc")


def look_at_sandbox() -> Finding:
    """Run `true` confined, as a program of a model would be."""
    from tiebreak.sandbox import host, process
    from tiebreak.sandbox.bubblewrap import Box
    from tiebreak.sandbox.limits import Limits

    if host.allowed():
        return Finding("sandbox", "warning", "switched off by the environment: model code runs on this host")
    try:
        result = process.run([shutil.which("true") or "/bin/true"], Box(), Limits())
    except SandboxError as error:
        return Finding("sandbox", "missing", str(error))
    if not result.ok:
        return Finding("sandbox", "missing", f"true failed inside: {result.stderr.decode(errors='replace').strip()}")
    version = subprocess.run(["bwrap", "--version"], capture_output=True, text=True).stdout.strip()
    return Finding("sandbox", "ok", f"{version}, user namespaces work")


def look_at_limits() -> Finding:
    """By what the memory and the processes of model-written code are limited here."""
    from tiebreak.sandbox.probe import enforcement

    means = enforcement()
    return Finding("limits", "ok", f"memory: {means['memory']}. Processes: {means['processes']}")


def memory_bytes() -> int:
    """The memory that this process may use: the machine's, or its control group's limit."""
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    limit = Path("/sys/fs/cgroup/memory.max")
    text = limit.read_text().strip() if limit.exists() else ""
    return min(machine, int(text)) if text.isdigit() else machine


def look_at_memory(size: int) -> Finding:
    """Whether `size` bytes of memory do for the laptop study."""
    found = f"{size / GIB:.1f} GiB"
    if size < MEMORY:
        return Finding("memory", "warning", found, f"the laptop study may take up to {MEMORY / GIB:.0f} GiB")
    return Finding("memory", "ok", found)


def free_bytes() -> int:
    """What is free where results lie, which may be another disk than the project's."""
    results = ROOT / "results"
    return shutil.disk_usage(results if results.exists() else ROOT).free


def look_at_disk(free: int, parts: Mapping[str, int] | None = None) -> Finding:
    """Whether `free` bytes of disk do for a small study and these `parts` of a large one, which stops without."""
    wanted = SMALL + sum((parts or {}).values())
    found = f"{free / GIB:.1f} GiB free"
    if free >= wanted:
        return Finding("disk", "ok", found)
    said = "".join(f", {name} {size / GIB:.0f}" for name, size in (parts or {}).items())
    mend = f"the study may still take {wanted / GIB:.0f} GiB (tables and records {SMALL / GIB:.0f}{said}); make room"
    return Finding("disk", "missing" if parts else "warning", found, mend)
