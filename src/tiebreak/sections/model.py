"""Sections `model` and `toolbox`: the policy at the start, and the bytes that it sees."""

import json
from pathlib import Path
from typing import Literal, Self

from pydantic import Field, ValidationInfo, model_validator

from tiebreak.sections.base import Section, absent, is_released


class Tiny(Section):
    """A Qwen3 of laptop size, made from scratch with a tokenizer of the domain's own."""

    hidden: int = Field(128, ge=16, description="width of the residual stream", examples=[128])
    layers: int = Field(3, ge=1, description="transformer blocks", examples=[3])
    heads: int = Field(4, ge=1, description="query heads", examples=[4])
    kv_heads: int = Field(4, ge=1, description="key and value heads; divides heads", examples=[4])
    ffn: int = Field(384, ge=16, description="width of the feed-forward layer", examples=[384])
    vocab: int = Field(1400, ge=300, le=65536, description="tokens in the vocabulary", examples=[1400])
    rope_theta: float = Field(500.0, gt=1, description="base of the rotary embedding", examples=[500.0])
    corpus: int = Field(
        2000, ge=1, description="generated cases whose text the tokenizer and the warm-up see", examples=[2000]
    )
    warmup_tokens: int = Field(2_200_000, ge=0, description="tokens of the copy warm-up", examples=[2_200_000])
    batch: int = Field(32, ge=1, description="sequences in a warm-up step", examples=[32])
    matrix_learning_rate: float = Field(0.02, gt=0, description="Muon's learning rate, for matrices", examples=[0.02])
    learning_rate: float = Field(3e-3, gt=0, description="AdamW's learning rate, for the rest", examples=[3e-3])
    threads: int = Field(2, ge=1, description="CPU threads; another number gives other bits", examples=[2])

    @model_validator(mode="after")
    def divisible(self) -> Self:
        """Heads share the width evenly, and query heads share the key heads evenly."""
        if self.hidden % self.heads or self.heads % self.kv_heads:
            raise ValueError(
                f"hidden {self.hidden}, heads {self.heads}, kv_heads {self.kv_heads} do not divide; "
                "heads must divide hidden and kv_heads must divide heads"
            )
        return self


class Model(Section):
    """The base model, and how every stage loads it."""

    base: str = Field(
        min_length=1,
        description="tiny (made from scratch by rule `base`), a folder, or a model of the hub (downloaded by it)",
        examples=["resources/base/model"],
    )
    revision: str | None = Field(
        None,
        pattern=r"^[0-9a-f]{40}$",
        description="the hub commit of the base, 40 hexadecimal digits",
        examples=["906bfd4b4dc7f14ee4320094d8b41684abff8539"],
    )
    max_length: int = Field(1024, ge=64, description="tokens of a whole episode at most", examples=[1024])
    system_message: str | None = Field(
        None, description="the system message of every prompt; null is the domain's own", examples=["null"]
    )
    dtype: Literal["float32", "bfloat16", "float16"] | None = Field(
        None,
        exclude_if=absent,
        description="what the weights are loaded as; null is float32",
        examples=["bfloat16"],
    )
    device: Literal["cpu", "cuda"] = Field("cpu", description="what trains and samples", examples=["cpu"])
    tiny: Tiny = Field(default_factory=Tiny, description="the model from scratch, where base is tiny", examples=["{}"])

    @model_validator(mode="after")
    def no_adapter(self, info: ValidationInfo) -> Self:
        """An adapter is no base: transformers would load the model that it names in its place."""
        config = Path(self.base) / "adapter_config.json"
        if not is_released(info) and config.is_file():
            named = json.loads(config.read_text(encoding="utf-8")).get("base_model_name_or_path")
            raise ValueError(f"base {self.base} is an adapter of {named}, not a model; name {named}, or merge the two")
        return self

    @model_validator(mode="after")
    def pinned(self, info: ValidationInfo) -> Self:
        """A model of the hub is named with its commit, or the study cannot be repeated."""
        if not is_released(info) and self.base != "tiny" and self.revision is None and not self.is_folder:
            raise ValueError(
                f"base {self.base} is no folder here, so it is a model of the hub: name its commit in revision"
            )
        return self

    @model_validator(mode="after")
    def made_as_said(self, info: ValidationInfo) -> Self:
        """A folder that has a record was made from the section `tiny` that stands here."""
        record = Path(self.base).parent / "record.json"
        if not is_released(info) and self.is_folder and record.is_file():
            made = json.loads(record.read_text(encoding="utf-8"))["params"]["model"]["tiny"]
            if made != self.tiny.model_dump(mode="json"):
                raise ValueError(
                    f"tiny is not what {self.base} was made with ({record}): set base to tiny to make it anew, "
                    "or put tiny back"
                )
        return self

    @property
    def is_made(self) -> bool:
        """Whether rule `base` makes or downloads the base; a folder is there already."""
        return not self.is_folder

    @property
    def is_hub(self) -> bool:
        """Whether the base is a model of the hub."""
        return self.is_made and self.base != "tiny"

    @property
    def precision(self) -> str:
        """What the weights are loaded as."""
        return self.dtype or "float32"

    @property
    def is_folder(self) -> bool:
        """Whether the base is a folder that holds a model."""
        return (Path(self.base) / "config.json").is_file()


class Toolbox(Section):
    """What the tools answer."""

    read_limit: int = Field(4000, ge=100, description="characters that read_file shows at most", examples=[4000])
    output_limit: int = Field(8000, ge=100, description="characters of a cargo reply at most", examples=[8000])
    diagnostics: Literal["full", "short"] = Field(
        "full", description="rustc's rendered text, or one line for each error", examples=["short"]
    )
