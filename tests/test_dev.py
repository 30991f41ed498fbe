"""`./dev` on a copy of it with a lock of one tiny local wheel and a build backend that the tests can hold up."""

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from dev_checkout import Checkout, make_wheel, wait_for


@pytest.fixture
def checkout(tmp_path: Path) -> Iterator[Checkout]:
    checkout = Checkout(tmp_path / "a checkout")
    yield checkout
    (checkout.root / "hold").unlink(missing_ok=True)  # nothing may wait for it after a failed test


@pytest.fixture(scope="module")
def ready(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """A checkout that was synced once, for the tests that leave it as it is."""
    checkout = Checkout(tmp_path_factory.mktemp("ready") / "checkout")
    done = checkout.dev("--sync")
    assert done.returncode == 0, done.stderr
    return checkout


def test_command_runs_in_the_environment(ready: Checkout) -> None:
    code = "import sys, os, tiny; print(sys.prefix, os.environ['TOKENIZERS_PARALLELISM'], 'PYTHONPATH' in os.environ)"
    done = ready.dev("python", "-c", code, PYTHONPATH="/elsewhere")
    assert done.stdout.splitlines() == ["tiny runs", f"{ready.root / '.venv'} false False"]


def test_arguments_and_status_pass_through(ready: Checkout) -> None:
    done = ready.dev("python", "-c", "import sys; print(sys.argv[1:]); sys.exit(7)", "a  b", "--help", "*", "")
    assert (done.returncode, done.stdout) == (7, "['a  b', '--help', '*', '']\n")


def test_nothing_changed_nothing_done(ready: Checkout) -> None:
    before = ready.builds
    done = ready.dev("true")
    assert (done.returncode, done.stderr, ready.builds) == (0, "", before)


def test_help_teaches_and_touches_nothing(checkout: Checkout) -> None:
    for arguments in ((), ("--help",)):
        done = checkout.dev(*arguments)
        assert done.returncode == 0
        assert "./dev snakemake --cores all" in done.stdout
    assert not (checkout.root / ".venv").exists()


def test_unknown_option_is_an_error(checkout: Checkout) -> None:
    done = checkout.dev("--snyc")
    assert done.returncode == 2
    assert "unknown option --snyc" in done.stderr


def test_env_gives_a_shell_what_a_command_gets(ready: Checkout) -> None:
    shell = f'eval "$({ready.root / "dev"} --env)"; python -c "import sys; print(sys.prefix)"'
    done = subprocess.run(["sh", "-c", shell], capture_output=True, text=True, env=ready.environment)
    assert done.stdout.strip() == str(ready.root / ".venv")


def test_inside_the_nix_shell_the_command_just_runs(checkout: Checkout) -> None:
    done = checkout.dev("sh", "-c", "echo $0 $1", "x", TIEBREAK_SHELL=str(checkout.root))
    assert (done.returncode, done.stdout) == (0, "x\n")
    assert not (checkout.root / ".venv").exists()


def test_a_changed_lock_is_followed_in_place(checkout: Checkout) -> None:
    assert checkout.dev("--sync").returncode == 0
    kept = checkout.root / ".venv" / "kept"
    kept.touch()
    checkout.lock.write_text(make_wheel(checkout.wheels, "other", ""))
    done = checkout.dev("python", "-c", "import other, tiny")
    assert "No module named 'tiny'" in done.stderr  # left the lock, so it left the environment
    assert checkout.builds == 2
    assert kept.exists()


def test_torch_for_gpus_has_an_environment_and_a_lock_of_its_own(checkout: Checkout) -> None:
    cpu = make_wheel(checkout.wheels, "tiny", "kind = 'cpu'")
    checkout.lock.write_text(cpu + make_wheel(checkout.wheels, "other", ""))
    gpu = cpu.replace("==1.0", "==1.1").replace(cpu.rpartition(":")[2].strip(), "0" * 64)
    code = "import os, sys, tiny, other; print(tiny.kind, os.environ['TIEBREAK_TORCH'], sys.prefix.rpartition('/')[2])"
    assert checkout.dev("python", "-c", code).stdout == "cpu cpu .venv\n"
    (checkout.root / "requirements" / "cuda.txt").write_text(make_wheel(checkout.wheels, "more", "") + gpu)
    refused = checkout.dev("true", TIEBREAK_TORCH="cuda")
    assert refused.returncode == 2 and "tiny==1.1" in refused.stderr, (
        "the entry of cuda.txt takes the place of the other"
    )
    (checkout.root / "requirements" / "cuda.txt").write_text(make_wheel(checkout.wheels, "more", ""))
    done = checkout.dev("python", "-c", f"import more; {code}", TIEBREAK_TORCH="cuda")
    assert done.stdout == "cpu cuda .venv-cuda\n", done.stderr
    assert "No module named 'more'" in checkout.dev("python", "-c", "import more").stderr
    unknown = checkout.dev("true", TIEBREAK_TORCH="gpu")
    assert (unknown.returncode, unknown.stderr) == (2, "dev: TIEBREAK_TORCH is gpu; cpu or cuda is expected\n")


def test_a_wrong_hash_is_refused_then_mended(checkout: Checkout) -> None:
    good = checkout.lock.read_text()
    checkout.lock.write_text(good.replace("sha256:", "sha256:0000")[: len(good) - 5] + "\n")
    failed = checkout.dev("true")
    assert failed.returncode == 2
    assert "DO NOT MATCH THE HASHES" in failed.stderr
    assert "sync.log" in failed.stderr
    checkout.lock.write_text(good)
    assert checkout.dev("python", "-c", "import tiny").returncode == 0


def test_a_missing_torch_wheel_tells_where_to_look(checkout: Checkout) -> None:
    checkout.lock.write_text(f"torch==2.13.0+cpu --hash=sha256:{'0' * 64}\n")
    done = checkout.dev("true")
    assert done.returncode == 2
    assert "No matching distribution found for torch==2.13.0+cpu" in done.stderr
    assert "PIP_FIND_LINKS" in done.stderr
    assert "PIP_EXTRA_INDEX_URL" in done.stderr


def test_killed_sync_is_made_anew(checkout: Checkout) -> None:
    (checkout.root / "hold").touch()
    victim = checkout.start("true")
    wait_for(lambda: checkout.builds == 1)
    os.killpg(victim.pid, signal.SIGKILL)
    victim.communicate()
    leftover = checkout.root / ".venv" / "leftover"
    leftover.touch()
    (checkout.root / "hold").unlink()
    done = checkout.dev("python", "-c", "import tiny")
    assert (done.returncode, done.stdout) == (0, "tiny runs\n")
    assert checkout.builds == 2
    assert not leftover.exists()


def test_two_calls_at_once_sync_once(checkout: Checkout) -> None:
    (checkout.root / "hold").touch()
    first = checkout.start("python", "-c", "import tiny")
    wait_for(lambda: checkout.builds == 1)
    second = checkout.start("python", "-c", "import tiny")
    assert second.stderr is not None
    assert "waiting" in second.stderr.readline()  # it has met the lock
    (checkout.root / "hold").unlink()
    outputs = [process.communicate(timeout=120)[0] for process in (first, second)]
    assert (first.returncode, second.returncode, outputs) == (0, 0, ["tiny runs\n", "tiny runs\n"])
    assert checkout.builds == 1


def test_the_lock_outlives_a_killed_parent(checkout: Checkout) -> None:
    """pip goes on when only its parent is killed; nobody may rebuild the environment under its hands."""
    (checkout.root / "hold").touch()
    victim = checkout.start("true")
    wait_for(lambda: checkout.builds == 1)
    sync = subprocess.run(["ps", "-o", "pid=", "--ppid", str(victim.pid)], capture_output=True, text=True)
    os.kill(int(sync.stdout), signal.SIGKILL)
    second = checkout.start("python", "-c", "import tiny")
    assert second.stderr is not None
    assert "waiting" in second.stderr.readline()
    (checkout.root / "hold").unlink()
    assert second.communicate(timeout=120)[0] == "tiny runs\n"
    victim.communicate()
    assert victim.returncode != 0


def test_missing_tools_are_named_with_the_mend(checkout: Checkout) -> None:
    path = checkout.tools_without("cargo", "bwrap")
    strict = checkout.dev("--sync", PATH=path)
    assert strict.returncode == 1
    assert "not found: cargo, bwrap" in strict.stderr
    assert "apt-get install cargo bubblewrap" in strict.stderr
    relaxed = checkout.dev("true", PATH=path)
    assert relaxed.returncode == 0
    assert "not found: cargo, bwrap" in relaxed.stderr


def test_another_rust_than_the_pinned_is_a_warning(ready: Checkout, tmp_path: Path) -> None:
    rustc = tmp_path / "rustc"
    for said, warned in {"1.95.3": "", "1.99.0": "rustc 1.99.0: 1.95 is pinned", "1.50.0": "too old"}.items():
        rustc.write_text(f"#!/bin/sh\necho rustc {said}\n")
        rustc.chmod(0o755)
        done = ready.dev("--sync", PATH=f"{tmp_path}:{os.environ['PATH']}")
        assert done.returncode == 0 and warned in done.stderr and bool(warned) == ("WARNING" in done.stderr), said


def test_no_python_is_one_clear_error(checkout: Checkout) -> None:
    path = checkout.tools_without()
    Path(path, "python3.11").unlink()
    done = checkout.dev("true", PATH=path)
    assert done.returncode == 2
    assert done.stderr.startswith("dev: no Python 3.11 or newer")
    assert done.stderr.count("\n") == 1


def test_a_moved_checkout_gets_a_new_environment(ready: Checkout, tmp_path: Path) -> None:
    moved = Checkout(tmp_path / "moved")
    shutil.copytree(ready.root / ".venv", moved.root / ".venv", symlinks=True)
    done = moved.dev("python", "-c", "import sys; print(sys.prefix)")
    assert done.stdout.strip() == str(moved.root / ".venv")
    assert moved.builds == 1
