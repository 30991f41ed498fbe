"""What all sections share: frozen, strict (the text "2" is no number), no unknown keys."""

from pydantic import BaseModel, ConfigDict


class Section(BaseModel):
    """A section of the study file. Each field has a description and, where it helps, an example."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


def absent(value: object) -> bool:
    """Whether an optional part of a section is not there.

    As `exclude_if` of a field it keeps the part out of the parameters of studies that do not have it: what a large
    study needs changes no job of a small one.
    """
    return value is None
