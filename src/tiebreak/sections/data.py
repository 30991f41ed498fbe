"""Section `data`: where tasks come from and how they are divided."""

import difflib
import re
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, ValidationInfo, field_validator, model_validator

from tiebreak.domains.rust.generator import ATTEMPTS, MOST_ATTEMPTS
from tiebreak.domains.rust.generator.catalogue import TEMPLATES
from tiebreak.sections.base import Section, is_released
from tiebreak.sections.llm import Llm

Names = Annotated[tuple[str, ...], Field(strict=False, min_length=1)]
HUB_NAME = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")


class Generate(Section):
    """Tasks from the domain's own seeded generator."""

    templates: Literal["all"] | Names = Field(
        "all", description="the templates to draw from: all, or a list of names", examples=["all"]
    )

    @field_validator("templates")
    @classmethod
    def known(cls, names: Literal["all"] | tuple[str, ...]) -> Literal["all"] | tuple[str, ...]:
        """Every name is a template of the generator."""
        if names != "all" and len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise ValueError(f"{twice} is named twice; name each template once")
        for name in () if names == "all" else names:
            if name not in TEMPLATES:
                near = difflib.get_close_matches(name, TEMPLATES, n=1)
                mend = f"did you mean {near[0]}?" if near else f"known are {', '.join(TEMPLATES)}"
                raise ValueError(f"there is no template {name}; {mend}")
        return names

    cases: int = Field(ge=1, description="how many blueprints to generate, before rejects", examples=[12000])
    attempts: int = Field(
        ATTEMPTS,
        ge=2,
        le=MOST_ATTEMPTS,
        description="the most patches that the plan of a recover family makes, the right one included; each plan draws "
        "its own number from 2 on",
        examples=[6],
    )


class Import(Section):
    """Tasks that others made, as they were published."""

    dataset: str = Field(
        min_length=1,
        description="a folder, or a dataset of the hub as OWNER/NAME",
        examples=["JayZenith/glyph-crates"],
    )
    revision: str | None = Field(
        None,
        pattern=r"^([0-9a-f]{40}|[0-9a-f]{64}|ask)$",
        description="the commit of a hub dataset (40 hexadecimal digits), or the digest of a folder (64); "
        "ask: nobody knows it yet, and the study is refused before its first job until it is named",
        examples=["906bfd4b4dc7f14ee4320094d8b41684abff8539"],
    )
    specs: str | None = Field(
        None,
        min_length=1,
        description="a JSONL file in the dataset, of model replies or blueprints; null reads its case folders",
        examples=["specs.jsonl"],
    )
    families: str | None = Field(
        None,
        min_length=1,
        description="a file of name patterns, which stand in for templates; null makes each case a cluster of its own",
        examples=["resources/name_families.json"],
    )

    @model_validator(mode="after")
    def pinned(self, info: ValidationInfo) -> Self:
        """A dataset of the hub is named with its commit, or the study cannot be repeated; a folder need not be."""
        if is_released(info):
            return self
        if self.is_folder and self.is_open:
            raise ValueError(
                f"dataset {self.dataset} is a folder here: leave revision out, or give the folder's digest"
            )
        if self.is_folder or (self.revision is not None and len(self.revision) == 64):
            return self
        if not HUB_NAME.fullmatch(self.dataset):
            raise ValueError(f"dataset {self.dataset} is no folder here, and no name of a hub dataset (OWNER/NAME)")
        if self.revision is None:
            raise ValueError(
                f"dataset {self.dataset} is no folder here, so it is a dataset of the hub: name its commit in revision"
            )
        return self

    @model_validator(mode="after")
    def inside(self) -> Self:
        """The specs lie in the dataset."""
        if self.specs is not None and (self.specs.startswith("/") or ".." in self.specs.split("/")):
            raise ValueError(f"specs {self.specs} leads out of the dataset; name a file in it")
        return self

    @property
    def is_folder(self) -> bool:
        """Whether the dataset is a folder: it is there, or its name is a path and no hub name."""
        return Path(self.dataset).is_dir() or self.dataset.startswith(("/", "./", "../"))

    def files(self) -> list[str]:
        """The files of this machine that are read, as far as they are there; none of a hub dataset."""
        folder = Path(self.dataset)
        wanted = [folder / self.specs] if self.specs is not None else sorted(folder.rglob("*"))
        named = [] if self.families is None else [Path(self.families)]
        return [str(path) for path in [*named, *(wanted if self.is_folder else [])] if path.is_file()]

    @property
    def is_open(self) -> bool:
        """Whether the study still asks for the dataset's revision."""
        return self.revision == "ask"


class Source(Section):
    """Where blueprints come from; several sources are put together."""

    generate: Generate | None = Field(
        None, description="generate blueprints from the root seed", examples=["{cases: 12000}"]
    )
    imported: Import | None = Field(
        None, alias="import", description="import published ones", examples=["{dataset: ../specs, specs: specs.jsonl}"]
    )
    llm: Llm | None = Field(
        None,
        description="ask a language model for specs",
        examples=["{endpoint: 'http://127.0.0.1:8000/v1', model: NAME, cases: 500}"],
    )

    @model_validator(mode="after")
    def something(self) -> Self:
        """There is at least one source."""
        if self.generate is None and self.imported is None and self.llm is None:
            raise ValueError(
                "no source is named; write generate: {cases: …}, import: {dataset: …} or llm: {endpoint: …}, or several"
            )
        return self

    @property
    def most(self) -> int | None:
        """The most blueprints that there can be; None with an import, whose size shows when it is read."""
        if self.imported is not None:
            return None
        return sum(source.cases for source in (self.generate, self.llm) if source is not None)

    def files(self) -> list[str]:
        """The files of this machine that the sources read beside the project's own."""
        return [] if self.imported is None else self.imported.files()


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
        description="the similarity (Jaccard of 5-token shingles) over which two cases may not stand in two splits; "
        "1 lets all but exact duplicates pass",
        examples=[0.92],
    )


class Shares(Section):
    """How tasks are divided and demonstrated, whatever the domain."""

    splits: Splits = Field(description="the size of each split", examples=["{sft: 9700, pool: 1500, holdout: 120}"])
    detours: float = Field(
        0.3, ge=0, le=1, description="the share of traces with a wrong action and its recovery", examples=[0.3]
    )
    leakage: Leakage = Field(
        default_factory=Leakage, description="the leakage gate", examples=["{max_similarity: 0.92}"]
    )


class Data(Shares):
    """Tasks and splits."""

    source: Source = Field(description="where the blueprints come from", examples=["{generate: {cases: 12000}}"])

    @model_validator(mode="after")
    def enough(self) -> Self:
        """The splits cannot hold more cases than there are blueprints; how many an import has shows when it is read."""
        most = self.source.most
        if most is not None and self.splits.total > most:
            raise ValueError(
                f"splits ask for {self.splits.total} cases, the cases of data.source are {most} in all; "
                "raise them (a few per cent are rejected) or ask for smaller splits"
            )
        return self
