"""The server as people start it, once for all tests here; they need OpenEnv and are left out where it is not."""

from collections.abc import Iterator
from importlib.util import find_spec

import pytest

collect_ignore_glob = [] if find_spec("openenv") else ["test_*.py"]


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator["object"]:
    """A server with a known secret and room for all tests."""
    from environments.fathom.serving import serving

    with serving(tmp_path_factory.mktemp("server")) as running:
        yield running
