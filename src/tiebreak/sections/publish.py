"""Section `publish`: where a release goes, under which licence, and who may see it."""

import re

from pydantic import Field, field_validator

from tiebreak.sections.base import Section

LONGEST = 96
PART = re.compile(rf"(?=.{{1,{LONGEST}}}$)\w(?:[\w.-]*\w)?", re.ASCII)


class Publish(Section):
    """Where a release goes. Nothing else of a study depends on it."""

    dataset: str | None = Field(
        None,
        description="the hub dataset, owner/name; null is nowhere",
        examples=["someone/tiebreak-laptop"],
    )
    models: str | None = Field(
        None,
        description="the owner of the model repositories, one a run; null keeps the models here",
        examples=["someone"],
    )
    private: bool = Field(True, description="whether new repositories are private", examples=["true"])
    license: str | None = Field(
        None,
        pattern=r"^[a-z0-9][a-z0-9.-]*$",
        description="the licence of data and models, by the hub's identifier",
        examples=["cc-by-4.0"],
    )

    @field_validator("dataset")
    @classmethod
    def dataset_can_be_named(cls, name: str | None) -> str | None:
        """The hub must allow the name; that it is free, or ours, shows later."""
        if name is not None and (name.count("/") != 1 or not is_name(name)):
            raise ValueError(f"{name!r} is no name of a repository; owner/name is expected, {RULE}")
        return name

    @field_validator("models")
    @classmethod
    def owner_can_be_named(cls, name: str | None) -> str | None:
        """An owner has no slash."""
        if name is not None and ("/" in name or not is_name(name)):
            raise ValueError(f"{name!r} is no name of an owner; {RULE}")
        return name


RULE = (
    f"letters, digits, _, . and -, at most {LONGEST} characters, each part from a letter, digit or _ to one, "
    "without -- and .., not ending in .git"
)


def is_name(name: str) -> bool:
    """Whether the hub allows a repository name, with an owner or without (as its client checks it)."""
    fits = all(PART.fullmatch(part) for part in name.split("/"))
    return fits and not ("--" in name or ".." in name or name.endswith(".git"))
