"""Section `data.source.llm`: specs that a language model writes, behind any OpenAI-compatible endpoint."""

from typing import Annotated, Literal, Self, get_args
from urllib.parse import urlsplit

from pydantic import Field, field_validator, model_validator

from tiebreak.domains.rust.blueprints import Difficulty, Family
from tiebreak.domains.rust.llm.orders import CATEGORIES, kinds
from tiebreak.sections.base import Section

FAMILIES = get_args(Family)
DIFFICULTIES = get_args(Difficulty)
Some = Annotated[tuple[str, ...], Field(strict=False, min_length=1)]


class Prices(Section):
    """What the endpoint charges."""

    input: float = Field(ge=0, description="price of a million prompt tokens", examples=[2.5])
    output: float = Field(ge=0, description="price of a million completion tokens", examples=[10.0])


class Llm(Section):
    """Specs from a model: each request asks for one, of a family, a bug category and a difficulty."""

    endpoint: str = Field(
        description="the address under which /chat/completions lies, mostly ending in /v1",
        examples=["http://127.0.0.1:8000/v1"],
    )
    model: str = Field(min_length=1, description="the model's name there", examples=["Qwen/Qwen3-32B"])
    cases: int = Field(ge=1, description="how many specs to ask for, before rejects", examples=[500])
    families: Some = Field(FAMILIES, description="the task families, in equal shares", examples=[["patch_test_pass"]])
    categories: Some = Field(
        tuple(CATEGORIES), description="the bug categories, in equal shares", examples=[["parsing_validation"]]
    )
    difficulties: Some = Field(DIFFICULTIES, description="the difficulties, in equal shares", examples=[["easy"]])
    concurrency: int = Field(8, ge=1, le=256, description="requests at a time", examples=[8])
    temperature: float | None = Field(
        1.0, ge=0, le=2, description="sampling temperature; null leaves it to the endpoint", examples=[1.0]
    )
    max_tokens: int = Field(6000, ge=1, description="the most tokens of a reply", examples=[6000])
    limit_key: Literal["max_tokens", "max_completion_tokens"] = Field(
        "max_tokens", description="what the endpoint calls that limit", examples=["max_completion_tokens"]
    )
    timeout: float = Field(300, gt=0, description="seconds to wait for a reply", examples=[300])
    tries: int = Field(6, ge=1, le=20, description="tries of a request, of which all but one may fail", examples=[6])
    key_variable: str | None = Field(
        None, description="the environment variable that holds the key; null sends none", examples=["OPENAI_API_KEY"]
    )
    prices: Prices | None = Field(
        None, description="prices, for the cost in data/usage.json", examples=["{input: 2.5, output: 10.0}"]
    )

    @field_validator("families", "categories", "difficulties")
    @classmethod
    def known(cls, names: tuple[str, ...], info: object) -> tuple[str, ...]:
        """Every name is one that the instructions explain, and stands once."""
        known = {"families": FAMILIES, "categories": tuple(CATEGORIES), "difficulties": DIFFICULTIES}
        there = known[str(getattr(info, "field_name", ""))]
        for name in names:
            if name not in there:
                raise ValueError(f"there is no {name}; known are {', '.join(there)}")
        if len(set(names)) < len(names):
            raise ValueError("a name stands twice; shares are equal, so name each once")
        return names

    @field_validator("key_variable")
    @classmethod
    def no_key(cls, name: str | None) -> str | None:
        """The name of a variable. What is none may be the key itself, so no message repeats it."""
        if name is not None and not (name.isidentifier() and name.isascii() and name.upper() == name):
            raise ValueError(
                "the name of an environment variable in capitals is expected, as in OPENAI_API_KEY; "
                "a key itself stands in the environment alone, never in a study file"
            )
        return name

    @field_validator("endpoint")
    @classmethod
    def address(cls, text: str) -> str:
        """An http address without secrets in it."""
        parts = urlsplit(text)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("an address is expected, as in http://127.0.0.1:8000/v1")
        if parts.username is not None or parts.query or parts.fragment:
            raise ValueError("an address without user, query and fragment is expected; a key goes into key_variable")
        return text.rstrip("/")

    @model_validator(mode="after")
    def something_to_ask(self) -> Self:
        """There is a kind of spec to ask for."""
        if not kinds(self.families, self.categories, self.difficulties):
            raise ValueError(
                f"families {', '.join(self.families)} have nothing to repair, and every category is one of crates that "
                "do not compile; name a patch family or another category"
            )
        return self

    def options(self) -> dict[str, float | int]:
        """The keys of a request that this section sets."""
        heat = {} if self.temperature is None else {"temperature": self.temperature}
        return {**heat, self.limit_key: self.max_tokens}
