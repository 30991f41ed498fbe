"""Claims: numbers in README and docs that come from kept artifacts through names, as `docs/claims.yaml` lists them.

A claim is a place in a JSON artifact and the form in which it is written; a document holds it between
`<!-- claim:NAME -->` and `<!-- /claim -->`. A retired claim stays in the list with its reason, and in no document.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from string import Formatter
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from tiebreak.digest import file_digest
from tiebreak.errors import ConfigError, DataError
from tiebreak.yaml_files import load_mapping

LIST = Path("docs/claims.yaml")


class Part(BaseModel):
    """A part of the list: no unknown keys."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Artifact(Part):
    """A kept JSON file, and the digest of what was looked at when it was kept."""

    file: str
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")


class Claim(Part):
    """One number: where it stands, what it is multiplied by, and how it is written (a format with one place)."""

    artifact: str
    path: list[str | int]
    times: float = 1.0
    form: str = "{}"

    @field_validator("form")
    @classmethod
    def one_place(cls, form: str) -> str:
        """A form without a place would write the same whatever the artifact says."""
        try:
            places = [name for _, name, _, _ in Formatter().parse(form) if name is not None]
        except ValueError as error:
            raise ValueError(f"form {form!r} is no format: {error}") from None
        if len(places) != 1:
            raise ValueError(f"form {form!r} has {len(places)} places for the value; one is expected, as in '{{:.2f}}'")
        return form


class Retired(Part):
    """A claim that is no longer made."""

    name: str
    said: str
    reason: str


class Claims(Part):
    """The list of a repository; `blocks` names the artifact that a whole rendered block is made from, `figures` the
    kept drawings, of which the digest alone counts."""

    artifacts: dict[str, Artifact]
    figures: dict[str, Artifact] = Field(default_factory=dict)
    claims: dict[str, Claim]
    blocks: dict[str, str] = Field(default_factory=dict)
    retired: list[Retired] = Field(default_factory=list)

    @property
    def kept(self) -> dict[str, Artifact]:
        """Artifacts and figures by name."""
        return {**self.figures, **self.artifacts}


def load(root: Path) -> Claims:
    """The list of the repository at `root`. Raises ConfigError, naming the place, for a list that cannot be used."""
    try:
        found = Claims.model_validate(load_mapping(root / LIST))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise ConfigError(f"{LIST}: {place}: {first['msg'].lower()}; found {first['input']!r}") from None
    for name, artifact in [*((name, claim.artifact) for name, claim in found.claims.items()), *found.blocks.items()]:
        if artifact not in found.artifacts:
            raise ConfigError(f"{LIST}: {name}: no artifact {artifact!r}; known are {', '.join(found.artifacts)}")
    if back := sorted({item.name for item in found.retired} & set(found.claims)):
        raise ConfigError(f"{LIST}: {back[0]} is claimed and retired; give the new claim another name")
    return found


def changed(root: Path, found: Claims) -> dict[str, str]:
    """The artifacts whose file is not the one that the list names, with its digest now ('' where it is gone)."""
    now = {
        name: file_digest(path) if (path := root / artifact.file).is_file() else ""
        for name, artifact in found.kept.items()
    }
    return {name: digest for name, digest in now.items() if digest != found.kept[name].sha256}


def read_artifacts(root: Path, found: Claims) -> dict[str, Any]:
    """The JSON of every artifact by name. Raises DataError, naming the file, for one that cannot be read."""
    values = {}
    for name, artifact in found.artifacts.items():
        try:
            values[name] = json.loads((root / artifact.file).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise DataError(f"{artifact.file}: cannot be read as JSON ({error}); keep the artifact again") from None
    return values


def written(claim: Claim, artifacts: Mapping[str, Any], name: str) -> str:
    """A claim as a document has it. Raises DataError, naming it, where its place or its form does not fit."""
    value = artifacts[claim.artifact]
    for depth, key in enumerate(claim.path):
        try:
            value = value[key]
        except (LookupError, TypeError):
            place = " → ".join(map(str, claim.path[: depth + 1]))
            raise DataError(f"claim {name}: the artifact {claim.artifact} has nothing at {place}") from None
    try:
        number = value if isinstance(value, str) or claim.times == 1 else value * claim.times
        return claim.form.format(number)
    except (TypeError, ValueError, LookupError) as error:
        raise DataError(f"claim {name}: {value!r} cannot be written as {claim.form!r} ({error})") from None
