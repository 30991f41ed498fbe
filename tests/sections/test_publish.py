"""Names of repositories, held against the hub's own client."""

import pytest
from huggingface_hub.errors import HFValidationError
from huggingface_hub.utils import validate_repo_id
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from tiebreak.sections.publish import Publish, is_name

NAMES = st.text(st.sampled_from("aZ9_.-é \n"), max_size=6) | st.sampled_from(["a.git", "a" * 96, "a" * 97])


def client_allows(name: str) -> bool:
    """What the client says."""
    try:
        validate_repo_id(name)
    except HFValidationError:
        return False
    return True


@given(NAMES, NAMES)
def test_a_name_is_one_that_the_client_allows(owner: str, name: str) -> None:
    assert is_name(f"{owner}/{name}") == client_allows(f"{owner}/{name}")
    assert is_name(name) == client_allows(name)


@pytest.mark.parametrize("name", ["anna", "anna/a/b", "anna/", "/a", "anna/a--b", "anna/a.git", "an na/a"])
def test_a_dataset_that_cannot_be_is_refused_in_the_study_file(name: str) -> None:
    with pytest.raises(ValidationError, match="is no name of a repository; owner/name is expected"):
        Publish(dataset=name)


def test_a_release_is_nowhere_and_private_unless_said() -> None:
    assert Publish().model_dump() == {"dataset": None, "models": None, "private": True, "license": None}
    with pytest.raises(ValidationError, match="is no name of an owner"):
        Publish(models="anna/models")
