"""A base model of the hub at its commit, as a folder that speaks our ChatML."""

import json
import shutil
from pathlib import Path

from tiebreak.chat import TEMPLATE
from tiebreak.errors import TrainingError
from tiebreak.hub import hub_words
from tiebreak.training.fit import refuse_adapter, weights_bytes

WEIGHTS_AND_TOKENIZER = ["*.json", "*.safetensors", "*.txt", "*.model"]
WEIGHTS = "model.safetensors"
INDEX = f"{WEIGHTS}.index.json"
HUB_TEMPLATES = ("chat_template.jinja", "chat_template.json")


def download_base(name: str, revision: str, out: Path) -> None:
    """Put the hub's model into the folder `out`, its chat template replaced by ours.

    Raises TrainingError where the hub has no such model or commit, does not let us, or cannot be reached, and where it
    has an adapter in the model's place.
    """
    from huggingface_hub import snapshot_download

    with hub_words("model", name, revision, TrainingError):
        source = Path(snapshot_download(name, revision=revision, allow_patterns=WEIGHTS_AND_TOKENIZER))
    refuse_adapter((path.name for path in source.iterdir()), f"model {name} at {revision}")
    out.mkdir(parents=True, exist_ok=True)
    for path in sorted(source.iterdir()):
        if path.is_file() and path.name not in HUB_TEMPLATES:
            shutil.copyfile(path, out / path.name)
    speak_chatml(out)


def speak_chatml(folder: Path) -> None:
    """Give the tokenizer of a model's folder our chat template."""
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    tokenizer.chat_template = TEMPLATE
    tokenizer.save_pretrained(folder)


def model_bytes(name: str, revision: str) -> int:
    """The size of a hub model's weights: of the whole copy in the hub's cache, or as the hub tells it.

    Nothing is downloaded. Raises TrainingError as `download_base` does, and where there are no weights to read.
    """
    from huggingface_hub import HfApi

    if (copy := cached(name, revision)) is not None:
        names, size = [path.name for path in copy.iterdir()], weights_bytes(copy)
    else:
        with hub_words("model", name, revision, TrainingError):
            files = HfApi().model_info(name, revision=revision, files_metadata=True).siblings or []
        names = [file.rfilename for file in files]
        size = sum(file.size or 0 for file in files if file.rfilename.endswith(".safetensors"))
    place = f"model {name} at {revision}"
    refuse_adapter(names, place)
    if not size:
        raise TrainingError(f"{place}: has no weights as .safetensors, and no others are read; name a model that has")
    return size


def cached(name: str, revision: str) -> Path | None:
    """The whole copy of a model in the hub's cache, if there is one; a download that broke off leaves a part."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import LocalEntryNotFoundError

    try:
        found = snapshot_download(name, revision=revision, allow_patterns=WEIGHTS_AND_TOKENIZER, local_files_only=True)
    except (LocalEntryNotFoundError, OSError):
        return None
    return Path(found) if has_all_weights(Path(found)) else None


def has_all_weights(folder: Path) -> bool:
    """Whether a model's folder has the file of its weights, or all shards that their index names."""
    index = folder / INDEX
    if not index.is_file():
        return (folder / WEIGHTS).is_file()
    return all(
        (folder / name).is_file() for name in json.loads(index.read_text(encoding="utf-8"))["weight_map"].values()
    )
