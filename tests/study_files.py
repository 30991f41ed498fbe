"""Study files that are refused, for the tests of studies."""

from pathlib import Path

import pytest

from tiebreak.errors import ConfigError
from tiebreak.study import load


def refused(tmp_path: Path, text: str) -> str:
    """The error of a study file with this text, without the file's name, which it must begin with."""
    path = tmp_path / "mine.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError) as caught:
        load(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: ") and "\n" not in message
    return message.removeprefix(f"{path}: ")
