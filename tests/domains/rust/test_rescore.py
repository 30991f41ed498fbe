import pytest

from tiebreak.domains.rust.rescore import SHAPING, shaping_terms, synthetic_group
from tiebreak.domains.rust.rewards import Profile, RewardTable


@pytest.mark.parametrize("profile", ["true", "published"])
@pytest.mark.parametrize("term", SHAPING)
def test_the_synthetic_group_moves_every_shaping_term(term: str, profile: Profile) -> None:
    table = RewardTable.model_validate({term: 1.0, "profile": profile})
    assert shaping_terms(table) == [term]
    assert len({rollout[term] for rollout in synthetic_group(table)}) > 1


def test_a_table_that_pays_nothing_has_no_terms_and_its_synthetic_group_ties() -> None:
    assert shaping_terms(RewardTable()) == []
    assert len({sum(rollout.values()) for rollout in synthetic_group(RewardTable())}) == 1
