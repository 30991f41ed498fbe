"""What can and cannot be claimed, in words, from a finished analysis."""

from collections.abc import Mapping
from typing import Any

from tiebreak.paths import BASE_ARM

SMALLEST_PRINTED = 1e-4


def p_value(p: float, *, bound: bool = False) -> str:
    """`p = 0.7744`, `p = 3.1e-05`, or `p < 2.3e-308` where a float carries no more."""
    if bound:
        return "p < 2.3e-308"
    return f"p = {p:.4f}" if p >= SMALLEST_PRINTED else f"p = {p:.1e}"


def rate(value: float) -> str:
    """A fraction of samples, to three decimals."""
    return f"{value:.3f}"


def signed(value: float) -> str:
    """A difference of fractions with its sign."""
    return f"{value:+.3f}".replace("-", "−")


def between(interval: Mapping[str, Any], form: Any = rate) -> str:
    """`0.532 (0.470 to 0.601)`, or the value alone where there is no interval."""
    if interval["low"] is None:
        return f"{form(interval['value'])} (no interval: one cluster)"
    return f"{form(interval['value'])} ({form(interval['low'])} to {form(interval['high'])})"


def statements(analysis: Mapping[str, Any]) -> list[dict[str, str]]:
    """Statements {about, text}, the headline first: recipe, checkpoints, learning, noise, levels, design, missing."""
    parts = {
        "recipe": recipe_sentences(analysis),
        "checkpoints": checkpoint_sentences(analysis),
        "learning": learning_sentences(analysis),
        "noise": noise_sentences(analysis),
        "levels": level_sentences(analysis),
        "design": design_sentences(analysis),
        "missing": missing_sentences(analysis),
    }
    return [{"about": about, "text": text} for about, lines in parts.items() for text in lines]


def recipe_sentences(analysis: Mapping[str, Any]) -> list[str]:
    """The headline: does a reward shape, trained again, do better than another?"""
    recipe, alpha = analysis["recipe"], analysis["settings"]["alpha"]
    pairs = recipe["pairs"]
    if not pairs:
        stopped = "every training run was stopped by a gate" if all_stopped(analysis) else ""
        reason = stopped or "fewer than two arms have training runs to compare"
        return [f"No claim about a reward shape: {reason}."]
    lines = [recipe_pair(pair, alpha) for pair in pairs]
    if not any(pair["possible"] for pair in pairs):
        lines = [impossible(recipe, alpha)]
    if recipe["conditional_on_one_sft"]:
        lines.append("All arms start from one SFT checkpoint; what is said about a shape is conditional on it.")
    return lines


def all_stopped(analysis: Mapping[str, Any]) -> bool:
    """Whether there were runs to train, and gates stopped them all."""
    return bool(analysis["stopped"]) and set(analysis["arms"]) <= {BASE_ARM}


def impossible(recipe: Mapping[str, Any], alpha: float) -> str:
    """Why a design with too few training runs can claim nothing."""
    pairs = recipe["pairs"]
    least = min(pairs, key=smallest)
    runs = " and ".join(str(n) for n in sorted(set(least["runs"]))) + " training runs"
    needed = f"; at least {recipe['runs_needed']} runs an arm are needed" if recipe["runs_needed"] else ""
    holm = f"{len(pairs)} {'pair' if len(pairs) == 1 else 'pairs'}"
    return (
        f"No claim about a reward shape can be made: with {runs} an arm "
        f"the smallest p this design can reach is {least['smallest_p']:.3g} ({least['smallest_p_holm']:.3g} after Holm "
        f"over {holm}), above alpha {alpha:g}, whatever the data{needed}."
    )


def smallest(pair: Mapping[str, Any]) -> float:
    """The least Holm-adjusted p that a pair can reach."""
    return float(pair["smallest_p_holm"])


def recipe_pair(pair: Mapping[str, Any], alpha: float) -> str:
    """One pair of arms over their training runs."""
    p = f"p = {pair['p']:.4f}, {pair['p_holm']:.4f} after Holm"
    head = f"{pair['b']} against {pair['a']} over training runs: graded pass@1 {signed(pair['delta'])} ({p})"
    if pair["claim"]:
        return f"{head}: the reward shapes differ at alpha {alpha:g}."
    if not pair["possible"]:
        return f"{head}: no claim, since {pair['runs'][0]} and {pair['runs'][1]} runs cannot reach alpha {alpha:g}."
    return f"{head}: no difference is shown{could_have_seen(pair['detectable'])}."


def could_have_seen(effect: float | None) -> str:
    """What a null result is worth."""
    return f"; about {rate(effect)} could have been seen" if effect is not None else ""


def checkpoint_sentences(analysis: Mapping[str, Any]) -> list[str]:
    """What holds for the checkpoints that were evaluated, and for them alone."""
    cluster = analysis["settings"]["cluster"]
    lines = []
    for pair in analysis["checkpoints"]:
        cases, clusters = pair["over_cases"], pair["over_clusters"]
        p = p_value(clusters["p_holm"], bound=clusters["bound"])
        tests = f"{p} over {clusters['units']} {plural(cluster)} after Holm"
        if cluster != "case":
            tests += f" ({p_value(cases['p'], bound=cases['bound'])} over {cases['units']} cases alone)"
        verdict = (
            "they differ on such cases, which says nothing about the recipe."
            if pair["claim"]
            else f"no difference is shown{could_have_seen(pair['detectable'])}."
        )
        names = f"{pair['b']} against {pair['a']}"
        lines.append(f"These checkpoints, {names}: {between(pair['delta'], signed)} graded pass@1, {tests}: {verdict}")
    return lines


def plural(word: str) -> str:
    """The plural of a cluster's name."""
    return {"family": "families"}.get(word, f"{word}s")


def learning_sentences(analysis: Mapping[str, Any]) -> list[str]:
    """Whether training moved the policy on its own prompts."""
    learned = analysis["learning"]
    if learned is None:
        return ["No learning probe was taken, so nothing is said about learning on the training prompts."]
    if not learned["arms"]:
        return ["No trained model was probed, so nothing is said about learning on the training prompts."]
    lines = []
    for arm, row in learned["arms"].items():
        if row["excludes_zero"]:
            verdict = "training moved the policy up" if row["gain"]["value"] > 0 else "training made the policy worse"
        else:
            verdict = "the interval holds zero, so no learning is shown"
        lines.append(
            f"On {row['prompts']} fixed training prompts {arm} went from {rate(row['before'])} to {rate(row['after'])} "
            f"graded, a gain of {between(row['gain'], signed)}: {verdict}."
        )
    return lines


def noise_sentences(analysis: Mapping[str, Any]) -> list[str]:
    """How much two repetitions of one checkpoint differ."""
    floor = analysis["noise"]["graded"]
    if floor["mean_flips"] is None:
        return ["One repetition a run: how much a repetition differs from another is not known."]
    return [
        f"Two repetitions of one checkpoint disagree on {floor['mean_flips']:.1f} of {floor['cases']} cases on average "
        f"(at most {floor['most_flips']}) and by up to {rate(floor['largest_difference'])} in pass@1: "
        "smaller differences between single evaluations are noise."
    ]


def level_sentences(analysis: Mapping[str, Any]) -> list[str]:
    """Where each arm stands."""
    k = analysis["settings"]["k"]
    return [
        f"{arm}: graded pass@1 {between(row['pass_at_1'])}, pass@{k} {between(row['pass_at_k'])}, on {row['cases']} "
        f"cases with {row['samples']} samples from {len(row['runs'])} {'run' if len(row['runs']) == 1 else 'runs'}."
        for arm, row in analysis["arms"].items()
    ]


def design_sentences(analysis: Mapping[str, Any]) -> list[str]:
    """Where the variance comes from, and what more of which would buy."""
    parts, lines = analysis["variance"], []
    names = {"run": "runs", "case": "cases", "run_case": "runs × cases", "sample": "sampling"}
    if parts["run"] is not None and parts["shares"]:
        shares = ", ".join(f"{names[name]} {100 * share:.1f} %" for name, share in parts["shares"].items())
        below = [names[name] for name in parts["negative"]]
        clipped = (
            f" ({' and '.join(below)} came out below zero and count{'s' * (len(below) == 1)} as zero)" if below else ""
        )
        lines.append(f"Of the variance of one graded rollout: {shares}{clipped}.")
    rows = [row for row in analysis["what_if"] if row["recipe"] is not None and row["recipe"]["run_deviation"]]
    if rows:
        found = "; ".join(f"{designed(row)}: {found_by(row['recipe'])}" for row in rows)
        power = 100 * analysis["settings"]["power"]
        lines.append(f"The least difference between two shapes that a design finds with {power:.0f} % power: {found}.")
    return lines


def designed(row: Mapping[str, Any]) -> str:
    """A design in words."""
    counted = f"{row['runs']} runs an arm × {row['repetitions']} repetitions × {row['cases']} cases"
    return f"{row['change']} ({counted})"


def found_by(recipe: Mapping[str, Any]) -> str:
    """The least effect that a design finds."""
    return f"about {rate(recipe['detectable'])}" if recipe["detectable"] is not None else "nothing, whatever the data"


def missing_sentences(analysis: Mapping[str, Any]) -> list[str]:
    """What is not in the numbers."""
    size = analysis["sizes"]
    lines = [
        f"Run {row['run']} was stopped and is not counted: {row['reason'].rstrip('.')}." for row in analysis["stopped"]
    ]
    if size["errors"]:
        lines.append(
            f"{size['errors']} of {size['rollouts']} rollouts ended in an infrastructure error and count neither as "
            "solved nor as failed; the tables give the rates over all rollouts as well."
        )
    clusters = {pair["over_clusters"]["units"] for pair in analysis["checkpoints"]}
    if clusters and min(clusters) < 20 and analysis["settings"]["cluster"] != "case":
        lines.append(
            f"With {min(clusters)} {plural(analysis['settings']['cluster'])} the bootstrap intervals are likely too "
            "narrow; the exact tests do not have this weakness."
        )
    return lines
