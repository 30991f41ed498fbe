"""What a Space would hold: complete, and enough to deal a task and to play an episode. No container is built here."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "environments" / "fathom" / "space.py"
PLAY = """
from tiebreak.domains.fathom.orders import Allowance, Dealer, Order, as_turn
from tiebreak.domains.fathom.play import Play
from tiebreak.domains.fathom.recorded import load
import tiebreak
order = Order(seed=1)
live = Play(Dealer(1).task(order), order, Allowance())
live.news()
live.turn(as_turn("code", "print(6 * 7)"))
print(tiebreak.__file__, live.news(), len(load()["episodes"]))
live.close()
"""


@pytest.fixture(scope="module")
def space(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("space") / "filled"
    subprocess.run([sys.executable, SCRIPT, folder], check=True)
    return folder


def test_the_container_finds_all_that_it_copies(space: Path) -> None:
    text = (space / "Dockerfile").read_text(encoding="utf-8")
    copied = re.findall(r"^COPY (\S+) \S+$", text, re.MULTILINE)
    assert len(copied) == 5 and all((space / path).exists() for path in copied)
    assert not re.search(r"TIEBREAK_SANDBOX|I_KNOW", text), "confinement is never switched off by default"
    assert "USER user" in text


def test_the_card_is_one_of_a_space(space: Path) -> None:
    front = yaml.safe_load((space / "README.md").read_text(encoding="utf-8").split("---\n")[1])
    manifest = yaml.safe_load((space / "environments/fathom/openenv.yaml").read_text(encoding="utf-8"))
    assert (front["sdk"], front["app_port"], front["tags"]) == ("docker", manifest["port"], ["openenv"])


def test_what_it_holds_plays_an_episode(space: Path) -> None:
    command, environment = [sys.executable, "-c", PLAY], {"PYTHONPATH": str(space / "src"), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(command, cwd=space, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"{space}/src/tiebreak") and "'content': '42'" in done.stdout


def test_a_folder_that_holds_something_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("x")
    done = subprocess.run([sys.executable, SCRIPT, tmp_path], capture_output=True, text=True)
    assert done.returncode == 1 and "is not empty; name a new folder" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]
