"""Section `arms`: reward shapes under test. The domain says what a reward table holds."""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from tiebreak.domains.rust.rewards import RewardTable

Fault = Literal["drifted_prompt"]


class Arm(RewardTable):
    """A reward table, and the faults that the arm has on purpose."""

    model_config = ConfigDict(strict=True)

    faults: Annotated[tuple[Fault, ...], Field(strict=False)] = Field(
        (), description="named defects that this arm is to show", examples=["[drifted_prompt]"]
    )

    def reward_table(self) -> RewardTable:
        """The reward table alone."""
        return RewardTable.model_validate(self.model_dump(exclude={"faults"}))
