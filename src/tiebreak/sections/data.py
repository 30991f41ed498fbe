"""Section `data`: where tasks come from and how they are divided."""

import difflib
from typing import Annotated, Literal, Self

from pydantic import Field, field_validator, model_validator

from tiebreak.domains.rust.generator.catalogue import TEMPLATES
from tiebreak.sections.base import Section

Names = Annotated[tuple[str, ...], Field(strict=False, min_length=1)]


class Generate(Section):
    """Tasks from the domain's own seeded generator."""

    templates: Literal["all"] | Names = Field(
        "all", description="the templates to draw from: all, or a list of names", examples=["all"]
    )

    @field_validator("templates")
    @classmethod
    def known(cls, names: Literal["all"] | tuple[str, ...]) -> Literal["all"] | tuple[str, ...]:
        """Every name is a template of the generator."""
        for name in () if names == "all" else names:
            if name not in TEMPLATES:
                near = difflib.get_close_matches(name, TEMPLATES, n=1)
                mend = f"did you mean {near[0]}?" if near else f"known are {', '.join(TEMPLATES)}"
                raise ValueError(f"there is no template {name}; {mend}")
        return names

    cases: int = Field(ge=1, description="how many blueprints to generate, before rejects", examples=[12000])


class Source(Section):
    """Where blueprints come from."""

    generate: Generate = Field(description="generate blueprints from the root seed", examples=["{cases: 12000}"])


class Splits(Section):
    """How many cases each split holds; no case is in two of them."""

    sft: int = Field(ge=1, description="cases whose traces SFT learns from", examples=[9700])
    pool: int = Field(ge=1, description="cases that RL and the learning probe draw prompts from", examples=[1500])
    holdout: int = Field(ge=1, description="cases that only evaluation sees", examples=[120])
    holdout_by: Literal["cases", "templates"] = Field(
        "cases", description="hold out cases, or whole templates that training never sees", examples=["cases"]
    )

    @property
    def total(self) -> int:
        """Cases in all splits together."""
        return self.sft + self.pool + self.holdout


class Leakage(Section):
    """The leakage gate."""

    max_similarity: float = Field(
        0.92,
        gt=0,
        le=1,
        description="reserved for the gate on near duplicates; today exact ones stop the study",
        examples=[0.92],
    )


class Data(Section):
    """Tasks and splits."""

    source: Source = Field(description="where the blueprints come from", examples=["{generate: {cases: 12000}}"])
    splits: Splits = Field(description="the size of each split", examples=["{sft: 9700, pool: 1500, holdout: 120}"])
    detours: float = Field(
        0.3, ge=0, le=1, description="the share of traces with a wrong action and its recovery", examples=[0.3]
    )
    leakage: Leakage = Field(
        default_factory=Leakage, description="the leakage gate", examples=["{max_similarity: 0.92}"]
    )

    @model_validator(mode="after")
    def enough(self) -> Self:
        """The splits cannot hold more cases than there are blueprints."""
        if self.splits.total > self.source.generate.cases:
            raise ValueError(
                f"splits ask for {self.splits.total} cases, source.generate.cases is {self.source.generate.cases}; "
                "raise it (a few per cent are rejected) or ask for smaller splits"
            )
        return self
