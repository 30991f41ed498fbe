"""What all sections share: frozen, strict (the text "2" is no number), no unknown keys."""

from pydantic import BaseModel, ConfigDict, ValidationInfo

RELEASED = {"released": True}
"""The context to validate a study with that was run elsewhere: what lay in its folders is not asked for here."""


class Section(BaseModel):
    """A section of the study file. Each field has a description and, where it helps, an example."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


def is_released(info: ValidationInfo) -> bool:
    """Whether a section is validated as part of a release, so that no file of this machine says anything of it."""
    return bool(info.context and info.context.get("released"))


def absent(value: object) -> bool:
    """Whether an optional part of a section is not there.

    As `exclude_if` of a field it keeps the part out of the parameters of studies that do not have it: what a large
    study needs changes no job of a small one.
    """
    return value is None
