"""Every output evaluates on both machines, and what would break one is found."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from nix.conftest import ROOT, Flake

MACHINES = ("aarch64-linux", "x86_64-linux")
SHARED = ("src", "scripts", "requirements", "benchmarks", "dev", ".ci")


def test_every_output_evaluates(flake: Flake) -> None:
    done = flake.check()
    assert done.returncode == 0, done.stderr
    outputs = json.loads(done.stdout)
    checks = {"format", "python", "shell", "toolchain"}
    expected = {"devShells": {"default", "gpu"}, "checks": checks, "apps": {"default"}}
    assert outputs.keys() == {*expected, "formatter"}
    for output, names in expected.items():
        assert {machine: set(outputs[output][machine]) for machine in MACHINES} == dict.fromkeys(MACHINES, names)
    assert set(outputs["formatter"]) == set(MACHINES)


@pytest.mark.parametrize(
    ("file", "name", "misspelt"),
    [
        ("nix/default.nix", "pkgs.bubblewrap", "pkgs.bublewrap"),
        ("nix/default.nix", "pkgs.zlib", "pkgs.libz1"),
        ("nix/default.nix", "pkgs.chromium", "pkgs.chromum"),
        ("nix/default.nix", "pkgs.uv\n", "pkgs.uvv\n"),
        ("nix/default.nix", "cuda.cuda_cudart", "cuda.cuda_cudrt"),
        ("nix/default.nix", "pkgs.nixfmt-tree", "pkgs.nixfmt-treee"),
        ("nix/default.nix", "pkgs.writeShellApplication", "pkgs.writeShellAplication"),
        ("nix/checks.nix", "pkgs.nixfmt", "pkgs.nixfnt"),
    ],
)
def test_a_misspelt_package_is_found(flake: Flake, file: str, name: str, misspelt: str) -> None:
    flake.edit(file, name, misspelt)
    done = flake.check()
    assert done.returncode != 0
    assert f"attribute '{misspelt.strip().rpartition('.')[2]}' missing" in done.stderr


@pytest.mark.parametrize(
    ("name", "pinned", "other", "words"),
    [
        ("rust", "1.95", "1.96", "nixpkgs has rust 1.95.0, and pyproject.toml pins 1.96"),
        ("python", "3.11", "3.10", "attribute 'python310' missing"),
        ("cuda", "12.9", "12.1", "attribute 'cudaPackages_12_1' missing"),
    ],
)
def test_a_version_that_nixpkgs_lacks_is_found(flake: Flake, name: str, pinned: str, other: str, words: str) -> None:
    flake.edit("pyproject.toml", f'\n{name} = "{pinned}"', f'\n{name} = "{other}"')
    done = flake.check()
    assert done.returncode != 0 and words in done.stderr


def test_unfree_packages_are_cudas_alone(flake: Flake) -> None:
    flake.edit("flake.nix", '"cuda_.*"', '"cuda_nvcc"')
    done = flake.check()
    assert done.returncode != 0 and "cuda_cudart has an unfree license" in done.stderr


@pytest.mark.parametrize("name", ["toolchain", "python", "shell"])
def test_what_a_check_runs_passes_here(flake: Flake, tmp_path: Path, name: str) -> None:
    """With this machine's tools in the place of Nix's."""
    if name == "shell" and shutil.which("shellcheck") is None:
        pytest.skip("needs shellcheck")
    for shared in SHARED:
        source = ROOT / shared
        ignored = shutil.ignore_patterns("__pycache__")
        target = flake.folder / shared
        shutil.copytree(source, target, ignore=ignored) if source.is_dir() else shutil.copy(source, target)
    (flake.folder / "tests").mkdir()
    script = flake.value(f"checks.x86_64-linux.{name}.buildCommand")
    (tmp_path / "build").mkdir()
    environment = os.environ | {"out": str(tmp_path / "out")}
    run = ["bash", "-eu", "-o", "pipefail", "-c", script]
    done = subprocess.run(run, cwd=tmp_path / "build", capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "out").exists()
