"""What the dev shells and the app set and run; `dev` is a stand-in that notes its calls (test_dev.py: the real one)."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from nix.conftest import ROOT, Flake

DRIVER = "/run/opengl-driver/lib"
DEV = '#!/bin/sh\n[ "$1" = --env ] && echo "export ENTERED=yes"\necho "$@" >>calls\nexit {status}\n'


def put_dev(folder: Path, status: int = 0) -> None:
    folder.joinpath("dev").write_text(DEV.format(status=status))
    folder.joinpath("dev").chmod(0o755)


def run(script: str, folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    settings = os.environ | {"GIT_CEILING_DIRECTORIES": str(folder.parent)} | environment
    command = ["bash", "-c", script, "bash", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, env=settings)


@pytest.mark.parametrize("status", [0, 2])
def test_the_shell_hook_syncs_and_enters_the_environment(flake: Flake, tmp_path: Path, status: int) -> None:
    put_dev(flake.folder, status)
    hook = flake.value("devShells.x86_64-linux.default.shellHook")
    done = run(f'{hook}\necho "$ENTERED $TIEBREAK_SHELL"', flake.folder)
    expected = (0, f"yes {flake.folder}\n", ["--sync", "--env"]) if status == 0 else (2, "", ["--sync"])
    assert (done.returncode, done.stdout, (flake.folder / "calls").read_text().split()) == expected


def test_the_app_is_dev(flake: Flake, tmp_path: Path) -> None:
    put_dev(flake.folder, 7)
    flake.edit("nix/default.nix", "program = lib.getExe app;", "program = app.text;")
    script = flake.value("apps.x86_64-linux.default.program")
    done = run(script, flake.folder, "snakemake", "-n", "a  b")
    assert (done.returncode, (flake.folder / "calls").read_text()) == (7, "snakemake -n a  b\n")
    elsewhere = run(script, tmp_path / "store")
    assert elsewhere.returncode == 2 and "is no checkout of Tiebreak" in elsewhere.stderr


@pytest.mark.parametrize("machine", ["x86_64-linux", "aarch64-linux"])
def test_the_shells_show_wheels_the_driver_and_none_of_nixs_cuda(flake: Flake, machine: str) -> None:
    plain, gpu = (settings(flake, f"devShells.{machine}.{name}") for name in ("default", "gpu"))
    assert gpu["LD_LIBRARY_PATH"] == f"{DRIVER}:{plain['LD_LIBRARY_PATH']}"
    assert "cuda" not in gpu["LD_LIBRARY_PATH"] and plain["LD_LIBRARY_PATH"].count("/lib") == 2
    assert (gpu["TRITON_LIBCUDA_PATH"], gpu["UV_PYTHON_DOWNLOADS"], gpu["UV_NO_SYNC"]) == (DRIVER, "never", "1")
    assert "cuda_nvcc-12.9" in gpu["CUDA_HOME"] and gpu["UV_PYTHON"].endswith("/bin/python3.12")
    assert plain["TIEBREAK_PYTHON"].endswith("/bin/python3.11") and "CUDA_HOME" not in plain
    # only x86-64 has a locked CPU build of torch
    assert plain.get("TIEBREAK_TORCH") == (None if machine == "x86_64-linux" else "cuda")
    assert gpu["TIEBREAK_TORCH"] == "cuda" and gpu["TIEBREAK_VENV"] != plain["TIEBREAK_VENV"]


def settings(flake: Flake, shell: str) -> dict[str, Any]:
    """The variables of a shell."""
    done = flake.evaluated("derivation", "show", output=shell)
    if done.returncode:  # its older name
        done = flake.evaluated("show-derivation", output=shell)
    assert done.returncode == 0, done.stderr
    (found,) = json.loads(done.stdout).values()
    return dict(found["env"])


@pytest.fixture
def host(tmp_path: Path) -> Path:
    """A folder like /usr/lib64 of a machine with NVIDIA's driver."""
    folder = tmp_path / "host"
    folder.mkdir()
    for name in ("libcuda.so", "libcuda.so.1", "libnvidia-ml.so.1", "libc.so.6", "libnvrtc.so.12"):
        (folder / name).touch()
    return folder


def driver(tmp_path: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """nix/driver.sh in a checkout of its own."""
    copy = tmp_path / "checkout" / "nix" / "driver.sh"
    copy.parent.mkdir(parents=True, exist_ok=True)
    copy.write_bytes((ROOT / "nix/driver.sh").read_bytes())
    settings = os.environ | {"TIEBREAK_DRIVER": str(tmp_path / "nixos")} | environment
    return subprocess.run(["sh", str(copy)], capture_output=True, text=True, env=settings)


def test_off_nixos_the_hosts_driver_is_linked_alone(tmp_path: Path, host: Path) -> None:
    for _ in range(2):  # a second time finds its own links and makes them anew
        done = driver(tmp_path, TIEBREAK_DRIVER_FOLDERS=f"/absent {host}")
    links = tmp_path / "checkout/.cache/driver"
    shell = run(f"{done.stdout}\necho $LD_LIBRARY_PATH $TRITON_LIBCUDA_PATH", tmp_path, LD_LIBRARY_PATH="/rest")
    assert shell.stdout == f"{links}:/rest {links}\n"
    assert sorted(link.name for link in links.iterdir()) == ["libcuda.so", "libcuda.so.1", "libnvidia-ml.so.1"]
    assert all(link.resolve().parent == host for link in links.iterdir())


def test_on_nixos_nothing_is_linked_and_without_a_driver_that_is_said(tmp_path: Path, host: Path) -> None:
    on_nixos = driver(tmp_path, TIEBREAK_DRIVER=str(host))
    assert (on_nixos.returncode, on_nixos.stdout, on_nixos.stderr) == (0, "", "")
    without = driver(tmp_path, TIEBREAK_DRIVER_FOLDERS="/absent")
    assert (without.returncode, without.stdout) == (0, "") and "libcuda.so.1 is neither in" in without.stderr
    assert not (tmp_path / "checkout/.cache").exists()
