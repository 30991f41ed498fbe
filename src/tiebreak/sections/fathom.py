"""The sections of a study in the fathom domain that differ from the Rust domain's: source, toolbox, arms."""

from typing import Annotated, Literal, Self

from pydantic import Field, ValidationError, model_validator

from tiebreak.domains.fathom.calls import MOST_CALLS, MOST_DEPTH
from tiebreak.domains.fathom.episode import OUTPUT_LIMIT, Mode
from tiebreak.domains.fathom.generator import PUBLISHED_LENGTHS
from tiebreak.domains.fathom.prompts import EXCERPT_TOKENS
from tiebreak.domains.fathom.rewards import PUBLISHED_TABLES, RewardTable
from tiebreak.sections.arm import Fault
from tiebreak.sections.base import Section
from tiebreak.sections.data import Shares
from tiebreak.sections.evaluation import EvaluationPlan


class Length(Section):
    """A context length and how many tasks have it."""

    characters: int = Field(ge=200, description="characters of the document", examples=[16000])
    share: float = Field(gt=0, le=1, description="the share of the tasks", examples=[0.2])


PUBLISHED = tuple(Length(characters=length, share=share) for length, share in PUBLISHED_LENGTHS.items())


class GenerateTasks(Section):
    """Tasks from the seeded generator."""

    cases: int = Field(ge=1, description="how many tasks to generate", examples=[1000])
    lengths: Annotated[tuple[Length, ...], Field(strict=False, min_length=1)] = Field(
        PUBLISHED, description="context lengths and their shares", examples=["[{characters: 900, share: 1.0}]"]
    )

    @model_validator(mode="after")
    def whole(self) -> Self:
        """Every task has one length."""
        total = sum(length.share for length in self.lengths)
        if abs(total - 1) > 1e-6 or len(self.by_length) < len(self.lengths):
            raise ValueError(f"the shares of lengths add up to {total:g}; different lengths with 1 in all are expected")
        return self

    @property
    def by_length(self) -> dict[int, float]:
        """The share of each length, in characters."""
        return {length.characters: length.share for length in self.lengths}


class TaskSource(Section):
    """Where tasks come from."""

    generate: GenerateTasks = Field(description="generate tasks from the root seed", examples=["{cases: 1000}"])

    def files(self) -> list[str]:
        """The files of this machine that are read beside the project's own: none."""
        return []


class TaskData(Shares):
    """Tasks and splits."""

    source: TaskSource = Field(description="where the tasks come from", examples=["{generate: {cases: 1000}}"])

    @model_validator(mode="after")
    def enough(self) -> Self:
        """The splits cannot hold more tasks than there are."""
        made = self.source.generate.cases
        if self.splits.total > made:
            raise ValueError(f"splits ask for {self.splits.total} cases, source.generate.cases is {made}; raise it")
        return self


class ReplSection(Section):
    """What a model sees of the document, and what the REPL allows."""

    mode: Mode = Field("multi", description="whether code runs and is answered, or the first turn is the last")
    excerpt_tokens: int = Field(
        EXCERPT_TOKENS, ge=0, description="tokens of the document in a prompt (4 characters each)", examples=[256]
    )
    output_limit: int = Field(OUTPUT_LIMIT, ge=20, description="characters of a reply at most", examples=[2000])
    most_calls: int = Field(MOST_CALLS, ge=0, description="calls of llm() in an episode", examples=[16])
    most_depth: int = Field(MOST_DEPTH, ge=0, description="how deep calls of llm() may go", examples=[2])
    responder: Literal["stub", "policy"] = Field(
        "stub",
        description="what answers llm(): the sentence that shares the most words, or the policy itself in an episode "
        "of its own over the chunk",
        examples=["policy"],
    )


class FathomEvaluation(EvaluationPlan):
    """Evaluations of every run, and what the runs do on other budgets of `llm()` calls."""

    call_budgets: Annotated[tuple[Annotated[int, Field(ge=0)], ...], Field(strict=False)] = Field(
        (),
        description="budgets of llm() calls under which every run is sampled as well, with the seeds of repetition 0",
        examples=["[0, 1]"],
    )

    @model_validator(mode="after")
    def once(self) -> Self:
        """Every budget stands there once."""
        if len(set(self.call_budgets)) < len(self.call_budgets):
            raise ValueError(f"call_budgets is {list(self.call_budgets)}; different budgets are expected")
        return self


class FathomArm(Section):
    """A named reward table with its changes, and the faults that the arm has on purpose."""

    table: Literal["v1_gate", "v2_soft", "v3_recursion"] = Field(description="the table", examples=["v2_soft"])
    changes: dict[str, float] = Field(
        default_factory=dict, description="keys of the table that differ", examples=["{call_cost: 0.5}"]
    )
    faults: Annotated[tuple[Fault, ...], Field(strict=False)] = Field(
        (), description="named defects that this arm is to show", examples=["[drifted_prompt]"]
    )

    @model_validator(mode="after")
    def known(self) -> Self:
        """Changes are of keys that there are."""
        try:
            self.reward_table()
        except ValidationError as error:
            first = error.errors()[0]
            keys = ", ".join(RewardTable.model_fields)
            raise ValueError(f"changes: {first['loc'][0]}: {first['msg'].lower()}; the keys are {keys}") from None
        return self

    def reward_table(self) -> RewardTable:
        """The reward table."""
        return RewardTable.model_validate(PUBLISHED_TABLES[self.table].model_dump() | self.changes)
