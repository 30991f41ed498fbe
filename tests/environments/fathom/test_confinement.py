"""Without bubblewrap nothing runs, and the server says so; what it shows of itself is true."""

import json
from pathlib import Path

import pytest
from environments.fathom.serving import Server, serving
from fathom_env import FathomEnv


def test_without_bubblewrap_episodes_are_refused_with_the_mend_and_the_pages_stay(tmp_path: Path) -> None:
    with serving(tmp_path, path="/nowhere") as bare:
        with (
            FathomEnv(base_url=bare.url).sync() as env,
            pytest.raises(RuntimeError, match=r"bubblewrap \(bwrap\) is not on"),
        ):
            env.reset()
        assert json.loads(bare.get("demo/episodes"))["episodes"] and "<h1>FATHOM</h1>" in bare.get("")
        assert not bare.sandboxes()


def test_the_server_tells_what_confines_code(server: Server) -> None:
    told = json.loads(server.get("about"))
    assert told["confinement"]["confinement"] == "bubblewrap, all namespaces"
    assert told["allowance"]["sessions"] == 300
