import importlib.util
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def counts_table():
    """The maker of small studies in `studies.py`."""
    spec = importlib.util.spec_from_file_location("tiebreak_test_studies", Path(__file__).with_name("studies.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.counts_table
