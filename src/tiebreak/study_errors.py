"""What pydantic found wrong with a study file, as one sentence: field, found, expected, mend."""

import difflib
import json
from collections.abc import Sequence
from types import UnionType
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from tiebreak.yaml_files import kind

Location = Sequence[str | int]
KINDS = {
    "int": "a whole number",
    "float": "a number",
    "string": "a string",
    "bool": "true or false",
    "model": "a mapping",
    "dict": "a mapping",
    "tuple": "a list",
}
KEY_ERRORS = ("extra_forbidden", "invalid_key")
BOUNDS = {
    "greater_than_equal": "{ge} or more",
    "greater_than": "a number over {gt}",
    "less_than_equal": "{le} or less",
    "less_than": "a number under {lt}",
    "literal_error": "{expected}",
    "string_pattern_mismatch": "a text that fits {pattern}",
    "too_short": "at least {min_length} entry",
    "string_too_short": "at least {min_length} character",
    "finite_number": "a finite number",
}


def first_error(error: ValidationError, model: type[BaseModel]) -> str:
    """The first thing wrong in words, and how many more there are. Unknown keys come first.

    A misspelt key also makes the right one missing; the misspelling is the cause.
    """
    details = sorted(error.errors(), key=lambda found: found["type"] not in KEY_ERRORS)
    places = [tuple(name(found["loc"], model)) for found in details]
    others = len(set(places)) - 1
    text = choice(details[0], model) if places.count(places[0]) > 1 else sentence(details[0], model)
    return text + (f" (and {others} more)" if others else "")


def choice(found: ErrorDetails, model: type[BaseModel]) -> str:
    """An error at a field that may be one of several things, none of which fits: the description says which."""
    place = name(found["loc"], model)
    _, field = resolve(place, model)
    return f"{'.'.join(place)} is {shown(found['input'])}; none of what may stand here{hint(field)}"


def sentence(found: ErrorDetails, model: type[BaseModel]) -> str:
    """One error in words."""
    place = name(found["loc"], model)
    label = ".".join(place)
    owner, field = resolve(place, model)
    if found["type"] == "extra_forbidden":
        return f"{label} is an unknown key; {suggestion(place[-1], owner)}"
    if found["type"] == "value_error":
        return f"{label or 'the study'}: {found['ctx']['error']}"
    if found["type"] == "invalid_key":
        return f"{label} is a key that is no text; {suggestion(label, owner)}"
    if place and place[-1] == "[key]":
        return f"{'.'.join(place[:-1])} holds the name {found['input']!r}; {expected(found)} is expected; rename it"
    state = "is missing" if found["type"] == "missing" else f"is {shown(found['input'])}"
    wanted = f"; {expected(found)} is expected" if found["type"] != "missing" else "; it is needed"
    return f"{label} {state}{wanted}{hint(field)}"


def expected(found: ErrorDetails) -> str:
    """What would have been right, from the kind of error."""
    bound = BOUNDS.get(found["type"])
    if bound:
        return bound.format(**found.get("ctx", {}))
    return KINDS.get(found["type"].split("_")[0], found["msg"])


def shown(value: Any) -> str:
    """A value and its kind, cut to a line."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return f"{text if len(text) <= 60 else text[:57] + '...'} ({kind(value)})"


def hint(field: FieldInfo | None) -> str:
    """A field's description and example, to go on from `expected`."""
    if field is None or not field.description:
        return ""
    example = f", as in {field.examples[0]}" if field.examples else ""
    return f" ({field.description}{example})"


def name(location: Location, model: type[BaseModel]) -> list[str]:
    """The keys of a place as they stand in the file: without the branches of unions that pydantic adds."""
    keys: list[str] = []
    for part in location:
        known = resolve([*keys, str(part)], model) != (None, None)
        if isinstance(part, int) or part == "[key]" or known or not looks_internal(part):
            keys.append(str(part))
    return keys


def looks_internal(part: str) -> bool:
    """Whether a part of a location is pydantic's name of a union's branch, such as `literal['all']`."""
    return "[" in part or part in {"str", "int", "float", "bool"}


def resolve(place: Sequence[str], model: type[BaseModel]) -> tuple[type[BaseModel] | None, FieldInfo | None]:
    """The model that owns a place and the field there; None where the place is not the models' own."""
    owner: type[BaseModel] | None = model
    field: FieldInfo | None = None
    inside: type[BaseModel] | None = None
    for key in place:
        if owner is None:
            return None, None
        if inside is not None:  # an entry of a mapping of models, such as one arm
            owner, field, inside = inside, None, None
            continue
        if field is not None:
            owner = submodel(field.annotation)
            if owner is None:
                return None, None
        field = fields(owner).get(key)
        if field is None:
            return owner, None
        inside = entries(field.annotation)
    return owner, field


def fields(owner: type[BaseModel]) -> dict[str, FieldInfo]:
    """A model's fields by the names that they have in the file (`import` is no name in Python)."""
    return {field.alias or name: field for name, field in owner.model_fields.items()}


def submodel(annotation: Any) -> type[BaseModel] | None:
    """The model that a field holds, if it holds one (also beside None)."""
    options = get_args(annotation) if isinstance(annotation, UnionType) else (annotation,)
    return next((item for item in options if isinstance(item, type) and issubclass(item, BaseModel)), None)


def entries(annotation: Any) -> type[BaseModel] | None:
    """The model of the values, where a field holds a mapping of models."""
    values = get_args(annotation)
    return submodel(values[1]) if len(values) == 2 else None


def suggestion(key: str, owner: type[BaseModel] | None) -> str:
    """The known keys, and the nearest one."""
    known = list(fields(owner)) if owner else []
    near = difflib.get_close_matches(key, known, n=1)
    mend = f"did you mean {near[0]}?" if near else "remove it"
    return f"known here are {', '.join(known)}; {mend}"
