"""Section `statistics`."""

from typing import Literal

from pydantic import Field

from tiebreak.sections.base import Section


class Statistics(Section):
    """How differences are judged."""

    alpha: float = Field(0.05, gt=0, lt=1, description="the level of every test and interval", examples=[0.05])
    cluster: Literal["template", "case"] = Field(
        "template", description="what the bootstrap resamples", examples=["template"]
    )
    resamples: int = Field(10_000, ge=100, description="bootstrap resamples", examples=[10_000])
