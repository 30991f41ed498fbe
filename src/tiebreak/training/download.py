"""A base model of the hub at its commit, as a folder that speaks our ChatML."""

import shutil
from pathlib import Path

from tiebreak.chat import TEMPLATE
from tiebreak.errors import TrainingError
from tiebreak.hub import hub_words

WEIGHTS_AND_TOKENIZER = ["*.json", "*.safetensors", "*.txt", "*.model"]
HUB_TEMPLATES = ("chat_template.jinja", "chat_template.json")


def download_base(name: str, revision: str, out: Path) -> None:
    """Put the hub's model into the folder `out`, its chat template replaced by ours.

    Raises TrainingError where the hub has no such model or commit, does not let us, or cannot be reached.
    """
    from huggingface_hub import snapshot_download

    with hub_words("model", name, revision, TrainingError):
        source = Path(snapshot_download(name, revision=revision, allow_patterns=WEIGHTS_AND_TOKENIZER))
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
    """The size of a hub model's weights. Raises TrainingError as `download_base` does; nothing is downloaded."""
    from huggingface_hub import HfApi

    with hub_words("model", name, revision, TrainingError):
        files = HfApi().model_info(name, revision=revision, files_metadata=True).siblings or []
    return sum(file.size or 0 for file in files if file.rfilename.endswith(".safetensors"))
