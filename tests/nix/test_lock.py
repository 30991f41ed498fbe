"""flake.lock pins every input, and agrees with flake.nix. Nix itself notices no missing rev or hash, nor a `follows`
that leads nowhere: these are found here."""

import base64
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from nix.conftest import ROOT, STUB, Flake

LOCK: dict[str, Any] = json.loads((ROOT / "flake.lock").read_text())


def problems(flake: str, lock: dict[str, Any]) -> Iterator[str]:
    """What is wrong with the lock of a flake whose inputs are named by `inputs.NAME.url`."""
    urls = dict(re.findall(r'inputs\.([\w-]+)\.url = "github:([^"]+)"', flake))
    nodes = lock["nodes"]
    inputs = nodes[lock["root"]].get("inputs", {})
    if inputs.keys() != urls.keys():
        yield f"inputs: flake.nix has {sorted(urls)}, flake.lock {sorted(inputs)}"
    for name, node in nodes.items():
        yield from (f"{name}: {problem}" for problem in bad_inputs(node, lock))
        if name != lock["root"]:
            yield from (f"{name}: {problem}" for problem in bad_pin(node))
    for name in inputs.keys() & urls.keys():
        original = nodes.get(inputs[name], {}).get("original", {})
        if (found := "/".join(str(original.get(key)) for key in ("owner", "repo", "ref"))) != urls[name]:
            yield f"{name}: flake.nix has {urls[name]}, flake.lock {found}"


def bad_inputs(node: dict[str, Any], lock: dict[str, Any]) -> Iterator[str]:
    """Inputs that lead nowhere: a name of a node, or a path of input names from the root (`follows`)."""
    for name, target in node.get("inputs", {}).items():
        place: Any = lock["root"]
        for step in target if isinstance(target, list) else []:
            place = lock["nodes"].get(place, {}).get("inputs", {}).get(step)
        if (place if isinstance(target, list) else target) not in lock["nodes"]:
            yield f"input {name} leads to {target}, which there is not"


def bad_pin(node: dict[str, Any]) -> Iterator[str]:
    """A node that does not say which commit of its repository, with which content."""
    original, locked = node.get("original", {}), node.get("locked", {})
    if any(original.get(key) != locked.get(key) for key in ("owner", "repo", "type")):
        yield "locked is another repository than original"
    if not re.fullmatch(r"[0-9a-f]{40}", locked.get("rev", "")):
        yield "locked has no rev of 40 hexadecimal digits"
    try:
        whole = len(base64.b64decode(locked["narHash"].removeprefix("sha256-"), validate=True)) == 32
    except (KeyError, ValueError):
        whole = False
    if not whole:
        yield "locked has no narHash of a SHA-256"


def test_the_lock_pins_every_input_of_the_flake() -> None:
    assert list(problems((ROOT / "flake.nix").read_text(), LOCK)) == []


@pytest.mark.parametrize(
    ("place", "value", "found"),
    [
        (["nixpkgs", "locked", "narHash"], None, "nixpkgs: locked has no narHash"),
        (["nixpkgs", "locked", "narHash"], "sha256-ugps", "nixpkgs: locked has no narHash"),
        (["nixpkgs", "locked", "rev"], None, "nixpkgs: locked has no rev"),
        (["nixpkgs", "locked", "rev"], "nixos-26.05", "nixpkgs: locked has no rev"),
        (["nixpkgs", "locked", "owner"], "nobody", "nixpkgs: locked is another repository"),
        (
            ["nixpkgs", "original", "ref"],
            "nixos-25.11",
            "nixpkgs: flake.nix has NixOS/nixpkgs/nixos-26.05, flake.lock N",
        ),
        (["root", "inputs", "nixpkgs"], "nixpkgs_2", "root: input nixpkgs leads to nixpkgs_2"),
        (["root", "inputs", "extra"], ["nixpkgs", "systems"], "inputs: flake.nix has ['nixpkgs'], flake.lock ['extra'"),
        (["nixpkgs", "inputs"], {"systems": ["absent"]}, "nixpkgs: input systems leads to ['absent']"),
    ],
)
def test_a_broken_lock_is_found(place: list[str], value: Any, found: str) -> None:
    lock = json.loads(json.dumps(LOCK))
    node = lock["nodes"]
    for key in place[:-1]:
        node = node[key]
    if value is None:
        del node[place[-1]]
    else:
        node[place[-1]] = value
    assert any(problem.startswith(found) for problem in problems((ROOT / "flake.nix").read_text(), lock))


def test_a_follows_that_leads_somewhere_is_fine() -> None:
    lock = json.loads(json.dumps(LOCK))
    lock["nodes"]["tool"] = lock["nodes"]["nixpkgs"] | {"inputs": {"nixpkgs": ["nixpkgs"]}}
    lock["nodes"]["root"]["inputs"]["tool"] = "tool"
    flake = (ROOT / "flake.nix").read_text() + 'inputs.tool.url = "github:NixOS/nixpkgs/nixos-26.05"'
    assert list(problems(flake, lock)) == []


def test_nix_takes_the_lock_and_refuses_another_flakes(flake: Flake) -> None:
    command = ("flake", "metadata", "--json", "--no-update-lock-file", f"path:{flake.folder}")
    done = flake.nix(*command)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["locks"] == LOCK
    flake.edit("flake.nix", "github:NixOS/nixpkgs/nixos-26.05", f"path:{STUB}")
    done = flake.nix(*command)
    assert done.returncode != 0 and "requires lock file changes" in done.stderr
