"""A step's groups: played by our own loop, recorded, and handed to the trainer as the rows that it wants."""

import time
from collections.abc import Callable, Collection, Sequence
from functools import partial
from pathlib import Path
from statistics import fmean, pstdev
from typing import Any

from tiebreak.chat import Message, prompt
from tiebreak.domains.base import Domain, Outcome, number_of_calls
from tiebreak.engines.base import Sampling
from tiebreak.engines.hf import HfEngine
from tiebreak.errors import TrainingError
from tiebreak.frames import append_frame
from tiebreak.rollout import Attempt, Played, play
from tiebreak.sections.rlvr import Rlvr
from tiebreak.training.run import Run

TIE = 1e-9

Player = Callable[[Any, Any, Domain, Sequence[Attempt]], list[Played]]
"""Plays a step's rollouts with the model that the trainer holds and its tokenizer."""


class Rollouts:
    """TRL's rollout function: plays a step's groups, keeps their records, hands tokens and rewards to the trainer."""

    def __init__(
        self,
        run: Run,
        rlvr: Rlvr,
        domain: Domain,
        prompts: Sequence[tuple[Any, list[Message]]],
        *,
        max_length: int,
        work: Path,
        player: Player | None = None,
    ) -> None:
        self.run, self.rlvr, self.domain, self.work, self.max_length = run, rlvr, domain, work, max_length
        self.player = player or self.play_here
        self.by_prompt = {prompt(messages): (case, messages) for case, messages in prompts}
        self.latest: dict[str, Any] = {}

    def __call__(self, prompts: list[str], trainer: Any) -> dict[str, list[Any]]:
        """One step's rollouts; `prompts` come repeated and grouped."""
        started, step = time.perf_counter(), trainer.state.global_step + 1
        model = trainer.accelerator.unwrap_model(trainer.model)
        training = model.training
        attempts = [self.attempt(step, number, text) for number, text in enumerate(prompts)]
        played = self.player(model, trainer.processing_class, self.domain, attempts)
        model.train(training)
        check_whole(played)
        episodes = [item.episode for item in played]
        outcomes, grades = self.domain.outcomes(episodes), self.domain.grades(episodes)
        groups = self.groups(step, played, outcomes, grades)
        self.latest = summary(step, groups, played, outcomes, grades) | {
            "seconds_rollouts": time.perf_counter() - started
        }
        append_frame(self.work / "groups.jsonl.zst", groups)
        dead = {number for number in range(len(played)) if groups[number // self.rlvr.group]["tied"]}
        return trainer_rows(played, dead) | {"score": [outcome["rewards"].get(self.run.arm) for outcome in outcomes]}

    @property
    def sampling(self) -> Sampling:
        """How turns are drawn."""
        return Sampling(self.rlvr.temperature, self.rlvr.turn_tokens, self.max_length)

    def play_here(self, model: Any, tokenizer: Any, domain: Domain, attempts: Sequence[Attempt]) -> list[Played]:
        """A `Player` in this process."""
        engine = HfEngine(model, tokenizer, self.sampling)
        return play(engine, domain, attempts, tool_rounds=self.rlvr.tool_rounds)

    def attempt(self, step: int, number: int, text: str) -> Attempt:
        """The rollout behind the step's row `number`."""
        case, messages = self.by_prompt[text]
        group, sample = divmod(number, self.rlvr.group)
        return Attempt(case, messages, sample, partial(self.run.seed, step, group, case.case_id, sample))

    def groups(
        self, step: int, played: Sequence[Played], outcomes: Sequence[Outcome], grades: Sequence[bool]
    ) -> list[dict[str, Any]]:
        """A record for each group of the step: rewards, their shaping part, outcomes and conversations."""
        size = self.rlvr.group
        rows = []
        for start in range(0, len(played), size):
            members = range(start, start + size)
            rewards = [outcomes[i]["rewards"].get(self.run.arm) for i in members]
            scored = [reward for reward in rewards if reward is not None]
            case = played[start].attempt.case
            rows.append(
                {
                    "step": step,
                    "group": start // size,
                    "case_id": case.case_id,
                    "family": case.family,
                    "template": case.template,
                    "rewards": rewards,
                    "terms": [dict(self.domain.terms(played[i].episode, self.run.arm)) for i in members],
                    "tied": not scored or max(scored) - min(scored) < TIE,
                    "stop": [outcomes[i]["stop"] for i in members],
                    "valid": [outcomes[i]["valid"] for i in members],
                    "success": [outcomes[i]["success"] for i in members],
                    "graded": [grades[i] for i in members],
                    "new_tokens": [played[i].new_tokens for i in members],
                    "calls": [number_of_calls(outcomes[i]["facts"]) for i in members],
                    "turns": [played[i].episode.messages for i in members],
                }
            )
        return rows


def check_whole(played: Sequence[Played]) -> None:
    """Raise TrainingError where a rollout ended in an error: TRL would take its missing reward for a 0 of the group."""
    failed = sum(item.episode.stop == "error" for item in played)
    if failed:
        raise TrainingError(
            f"{failed} of {len(played)} rollouts of this step ended in an error of the engine, whose log tells more; "
            "run again: the training goes on from its last checkpoint"
        )


def trainer_rows(played: Sequence[Played], dead: Collection[int]) -> dict[str, Any]:
    """Tokens as TRL wants them; env_mask is 1 on the model's own tokens.

    dead: the rows of tied groups. Their advantage is zero, so they are dropped as the published recipe drops them: a
    row must stay for TRL, and holds one token that is in no loss.
    """
    prompt_ids, completion_ids, masks = [], [], []
    for number, item in enumerate(played):
        first = item.spans[0][0]
        if number in dead:
            prompt_ids.append(item.ids[:first])
            completion_ids.append(item.ids[first : first + 1])
            masks.append([0])
            continue
        own = [0] * (len(item.ids) - first)
        for begin, end in item.spans:
            own[begin - first : end - first] = [1] * (end - begin)
        prompt_ids.append(item.ids[:first])
        completion_ids.append(item.ids[first:])
        masks.append(own)
    return {"prompt_ids": prompt_ids, "completion_ids": completion_ids, "logprobs": None, "env_mask": masks}


def summary(
    step: int,
    groups: Sequence[dict[str, Any]],
    played: Sequence[Played],
    outcomes: Sequence[Outcome],
    grades: Sequence[bool],
) -> dict[str, Any]:
    """One step in numbers; rates are over its rollouts, `kept` are the groups that are not tied."""
    rewards = [reward for group in groups for reward in group["rewards"] if reward is not None]
    tied = sum(group["tied"] for group in groups)
    return {
        "step": step,
        "groups": len(groups),
        "tied": tied,
        "kept": len(groups) - tied,
        "tied_fraction": tied / len(groups),
        "rollouts": len(played),
        "errors": len(played) - len(rewards),
        "reward_mean": fmean(rewards) if rewards else None,
        "reward_std": pstdev(rewards) if rewards else None,
        "valid_rate": fmean(outcome["valid"] for outcome in outcomes),
        "success_rate": fmean(outcome["success"] for outcome in outcomes),
        "graded_rate": fmean(grades),
        "new_tokens_mean": fmean(item.new_tokens for item in played),
        "new_tokens_max": max(item.new_tokens for item in played),
        "turns_mean": fmean(len(item.replies) for item in played),
        "truncated": sum(item.truncated for item in played),
    }


def score(completions: list[str], score: list[float | None], **_: Any) -> list[float | None]:
    """TRL's reward function: the reward that the rollout already has; None (an infrastructure error) is left out."""
    return score
