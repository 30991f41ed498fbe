import pandas as pd

from tiebreak.report.audit_tables import groups, kept, ranking

STEP = {"run": "dense-seed1", "arm": "dense", "step": 1, "groups": 8, "tied": 2, "no_success": 4}
RANK = {"source": "evaluation", "mixed": 3, "somers_d": 0.5}


def test_shares_are_out_of_what_their_title_says() -> None:
    steps = [
        {**STEP, "no_success_shaped": 1, "tied_fraction": 0.25},
        {**STEP, "step": 2, "no_success": 0, "no_success_shaped": 0, "tied_fraction": 0.25},
    ]
    frame = groups({"tables": {"group_steps": steps}})
    assert frame["tied_fraction"].tolist() == [0.25, 0.25]
    assert frame["no_success_fraction"].tolist() == [0.5, 0.0]
    assert frame["shaped_fraction"].iloc[0] == 0.25 and pd.isna(frame["shaped_fraction"].iloc[1])
    assert frame["training_seed"].tolist() == [1, 1]


def test_kept_and_training_examples_keep_their_own_names() -> None:
    columns = ["step", "batch", "dropped_total", "kept", "training_examples"]
    frame = pd.DataFrame([[0, 96, 79, 17, 17, 9.6]], columns=[*columns, "reward_mean"])
    assert list(kept(frame)) == columns


def test_ranking_shows_evaluations_with_mixed_groups() -> None:
    rows = [RANK, {**RANK, "source": "probe"}, {**RANK, "mixed": 0}]
    assert len(ranking({"tables": {"ranking": rows}})) == 1
    assert ranking({"tables": {"ranking": []}}).empty and groups({"tables": {"group_steps": []}}).empty
