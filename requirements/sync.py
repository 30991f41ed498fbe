"""Make or update the environment that `./dev` runs commands in: `sync.py VENV WANTED [--strict]`.

VENV is the folder of the environment and WANTED the text that its stamp will begin with. The stamp is removed before
anything changes and written last, so an environment without one was interrupted, and is made anew. Standard library
alone, as this runs before anything is installed.
"""

import fcntl
import json
import os
import re
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOCK = ROOT / "requirements" / "project.txt"
CUDA_LOCK = ROOT / "requirements" / "cuda.txt"
TORCH = "TIEBREAK_TORCH"  # cpu, or cuda for the registry's build
ENTRY = re.compile(r"^(([\w.-]+)(?:\[[^]]*\])?==.*\n(?:[ \t]+.*\n)*)", re.MULTILINE)
TOOLS = {"cargo": ["cargo"], "cc": ["gcc", "libc6-dev"], "bwrap": ["bubblewrap"]}  # command: Debian's packages
FOR_TESTS = {  # their tests are skipped where they are missing; CI wants them
    "chromium": ["chromium"],
    "scontrol": ["slurm-wlm", "munge"],
    "nix": ["nix-bin"],
    "shellcheck": ["shellcheck"],
}
UNLISTED = {"pip", "setuptools", "wheel", "tiebreak"}  # may be there without being in the lock
TORCH_MEND = (
    "The lock asks for torch's CPU build, which the registry lacks: let PIP_FIND_LINKS name a folder that holds its "
    "wheel, or PIP_EXTRA_INDEX_URL PyTorch's CPU index. The locked wheel is for Python {python} on x86-64 "
    "(TIEBREAK_PYTHON picks it). TIEBREAK_TORCH=cuda takes the registry's build, of several GB"
)


class SyncError(Exception):
    """The environment cannot be made; the text says why, and the mend."""


def say(text: str) -> None:
    """One line of progress, on the standard error so that CMD's own output stays clean."""
    print(f"dev: {text}", file=sys.stderr, flush=True)


class Venv:
    """The virtual environment at `path` while it is being synced; `lock` is the descriptor that holds the file lock."""

    def __init__(self, path: Path, lock: int) -> None:
        self.path, self.lock = path, lock
        self.python, self.stamp, self.log = path / "bin" / "python", path / "stamp", path / "sync.log"

    def version(self) -> str:
        """What its Python answers to -V; empty where it does not run."""
        try:
            return subprocess.run([self.python, "-V"], capture_output=True, text=True).stdout.strip()
        except OSError:
            return ""

    def is_usable(self) -> bool:
        """Whether it was finished once and belongs to the Python that runs this, so that it can be updated in place."""
        settings = self.path / "pyvenv.cfg"
        if not (self.stamp.exists() and settings.exists() and self.version()):
            return False
        made_with = re.search(r"^executable = (.*)$", settings.read_text(), re.MULTILINE)
        return made_with is not None and os.path.realpath(made_with[1]) == os.path.realpath(base_python())

    def run(self, *command: str, title: str = "", total: int = 0) -> None:
        """Run its Python with `command`, output to the log; a terminal sees how many of `total` packages are fetched.

        The child inherits the lock: should this process be killed, nobody else starts before the child has ended too.
        """
        environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
        with open(self.log, "a") as log:
            print(f"\n$ python {' '.join(command)}", file=log, flush=True)
            process = subprocess.Popen(
                [self.python, *command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                env=environment, pass_fds=[self.lock], cwd=ROOT,
            )  # fmt: skip
            fetched, lines = 0, []
            for line in process.stdout or ():
                lines.append(line)
                log.write(line)
                fetched += line.startswith(("Collecting ", "Requirement already"))
                if total and sys.stderr.isatty():
                    print(f"\rdev: {title}: {fetched} of {total} ", end="", file=sys.stderr, flush=True)
        if total and sys.stderr.isatty():
            print(file=sys.stderr)
        if process.wait():
            raise SyncError(f"{title or command[0]} failed:\n{reason(lines)}\nThe whole output is in {self.log}")

    def pip(self, *options: str, title: str, total: int = 0) -> None:
        """`pip install` with `options`."""
        quiet = ("--no-input", "--disable-pip-version-check", "--no-warn-script-location", "--progress-bar", "off")
        self.run("-I", "-m", "pip", "install", *quiet, *options, title=title, total=total)

    def strays(self, names: set[str]) -> list[str]:
        """The installed packages that are not among `names`: an older lock's, or somebody's own."""
        code = "import importlib.metadata as m, json; print(json.dumps([d.name for d in m.distributions()]))"
        output = subprocess.run([self.python, "-I", "-c", code], capture_output=True, text=True, check=True).stdout
        return sorted(name for name in set(json.loads(output)) if canonical(name) not in names | UNLISTED)


def reason(lines: list[str]) -> str:
    """What of a failed command's output tells the cause: pip's errors, else the last lines; and the mend for torch."""
    errors = [line for line in lines if line.lstrip().startswith(("ERROR", "error:"))]
    text = "".join(errors or lines[-8:]).rstrip()
    return f"{text}\n{torch_mend()}" if "for torch==" in text else text


def torch_mend() -> str:
    """What to do where the locked build of torch is not found or does not run."""
    if os.environ.get(TORCH) == "cuda":
        return f"{TORCH}=cuda asks for torch as the registry has it; without a GPU {TORCH}=cpu is enough"
    return TORCH_MEND.format(python=pinned().get("python", "as locked"))


def pinned() -> dict[str, str]:
    """pyproject.toml's `[tool.tiebreak]`, the pinned versions; nothing in a project without."""
    tool = tomllib.loads((ROOT / "pyproject.toml").read_text()).get("tool", {})
    return dict(tool.get("tiebreak", {}))


def locked_packages() -> dict[str, str]:
    """The locked packages, each with the lines that say its version and hashes."""
    locks = [LOCK, CUDA_LOCK] if os.environ.get(TORCH) == "cuda" else [LOCK]
    return {canonical(name): text for lock in locks for text, name in ENTRY.findall(lock.read_text() + "\n")}


def canonical(name: str) -> str:
    """A package's name as indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def base_python() -> str:
    """The Python outside any virtual environment that runs this."""
    return str(getattr(sys, "_base_executable", sys.executable))


@contextmanager
def locked(path: Path) -> Iterator[int]:
    """Hold the file lock at `path`, and wait for it if need be; the kernel frees it when its last holder ends."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("another call is preparing the environment; waiting for it")
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield descriptor
    finally:
        os.close(descriptor)


def create(venv: Venv) -> None:
    """A new, empty environment in place of whatever is there."""
    say(f"making {venv.path.name} with Python {sys.version.split()[0]}")
    made = subprocess.run(
        [base_python(), "-I", "-m", "venv", "--clear", venv.path], capture_output=True, text=True, pass_fds=[venv.lock]
    )
    if made.returncode:
        minor = f"{sys.version_info.major}.{sys.version_info.minor}"
        raise SyncError(
            f"{base_python()} cannot make a virtual environment:\n{(made.stderr or made.stdout).strip()}\n"
            f"Debian keeps what is missing in a package of its own: apt-get install python{minor}-venv"
        )


def install(venv: Venv) -> None:
    """Bring the environment to the lock: its packages, the project itself, nothing else."""
    packages = locked_packages()
    lock = venv.path / "lock.txt"
    lock.write_text("".join(packages.values()))
    title = f"installing {len(packages)} locked packages"
    say(title)
    venv.pip("--require-hashes", "--no-deps", "-r", str(lock), title=title, total=len(packages))
    if strays := venv.strays(set(packages)):
        say(f"removing what is not in the lock: {', '.join(strays)}")
        venv.run("-I", "-m", "pip", "uninstall", "--yes", *strays, title="removing packages")
    say("installing the project")
    venv.pip("--no-build-isolation", "--no-deps", "--no-index", "-e", str(ROOT), title="installing the project")
    if "torch" in packages:
        check_torch(venv)


def check_torch(venv: Venv) -> None:
    """Import torch once, as a build that does not fit the machine shows only there."""
    tried = subprocess.run([venv.python, "-I", "-c", "import torch"], capture_output=True, text=True)
    if tried.returncode:
        last = tried.stderr.strip().rpartition("\n")[2]
        raise SyncError(f"torch was installed but cannot be imported: {last}\n{torch_mend()}")


def sync(venv: Venv, wanted: str) -> None:
    """Make or update the environment if its stamp is another one."""
    usable = venv.is_usable()
    if usable and venv.stamp.read_text().strip() == f"{wanted} {venv.version()}":
        return  # another call made it while this one waited
    started = time.monotonic()
    venv.stamp.unlink(missing_ok=True)
    if not usable:
        create(venv)
    venv.log.write_text("")
    try:
        install(venv)
    except SyncError:
        if usable:  # pip takes back what fails, so the next call need not start from nothing
            venv.stamp.write_text("stale\n")
        raise
    finished = venv.stamp.with_suffix(".new")
    finished.write_text(f"{wanted} {venv.version()}\n")
    finished.replace(venv.stamp)
    say(f"the environment is ready ({time.monotonic() - started:.0f} s)")


def find_tools() -> list[str]:
    """Find what pip cannot install, with apt-get where that is allowed; returns what is missing still."""
    missing = install_tools(TOOLS)
    if os.environ.get("CI"):
        install_tools(FOR_TESTS)
    packages = [package for tool in missing for package in TOOLS[tool]]
    if missing:
        say(
            f"WARNING: not found: {', '.join(missing)}; studies cannot run without. On Debian and its kin: "
            f"apt-get install {' '.join(packages)}. Elsewhere: rustup.rs for cargo, the distribution for bubblewrap."
        )
    return missing


def install_tools(tools: dict[str, list[str]]) -> list[str]:
    """Install the Debian packages of those that are not there, as root on such a machine; returns what is missing."""
    packages = [package for tool in tools if not shutil.which(tool) for package in tools[tool]]
    if packages and os.geteuid() == 0 and shutil.which("apt-get") and not os.environ.get("TIEBREAK_SHELL"):
        say(f"installing Debian's {', '.join(packages)}")
        apt_install(packages)
    return [tool for tool in tools if not shutil.which(tool)]


def apt_install(packages: list[str]) -> None:
    """Install Debian packages; the package lists of a fresh container are empty, so a failure fetches them first."""
    command = ["apt-get", "install", "--yes", "--quiet", "--no-install-recommends", *packages]
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    for step in (command, ["apt-get", "update", "--quiet"], command):
        done = subprocess.run(step, stdin=subprocess.DEVNULL, capture_output=True, text=True, env=environment)
        if step is command and not done.returncode:
            return
    say(f"WARNING: apt-get failed: {reason((done.stderr or done.stdout).splitlines(keepends=True))}")


def check_rust() -> None:
    """Warn of a Rust other than the pinned one: verdicts, and with them rollouts, may differ from the published."""
    wanted = pinned()
    if not (shutil.which("rustc") and wanted):
        return
    answer = subprocess.run(["rustc", "--version"], capture_output=True, text=True)
    found = re.match(r"rustc (\d+)\.(\d+)", answer.stdout)
    if not found:
        say(f"WARNING: rustc does not run: {reason(answer.stderr.splitlines(keepends=True))}")
    elif tuple(map(int, found.groups())) < tuple(map(int, wanted["oldest_rust"].split("."))):
        say(f"WARNING: {answer.stdout.strip()} is too old, it does not know edition 2021; {wanted['rust']} is pinned")
    elif ".".join(found.groups()) != wanted["rust"]:
        say(f"WARNING: {answer.stdout.strip()}: {wanted['rust']} is pinned; compiler messages may differ")


def main(venv: str, wanted: str, strict: str = "") -> int:
    """Sync, then look for the tools; with --strict a missing tool is a failure."""
    path = Path(venv)
    try:
        with locked(path.with_name(f"{path.name}.lock")) as lock:
            sync(Venv(path, lock), wanted)
            missing = find_tools()
    except (SyncError, OSError) as error:
        say(f"ERROR: {error}")
        return 2
    except KeyboardInterrupt:
        say("interrupted; the next call starts over")
        return 130
    check_rust()
    return 1 if missing and strict else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
