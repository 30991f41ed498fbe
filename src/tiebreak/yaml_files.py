"""YAML as people expect it: no key twice, no tab puzzles, and 1e-3 is a number."""

import re
from collections.abc import Hashable
from pathlib import Path
from typing import Any

import yaml

from tiebreak.errors import ConfigError

EXPONENT = re.compile(r"^[-+]?[0-9]+(\.[0-9]*)?[eE][-+]?[0-9]+$")


class Loader(yaml.SafeLoader):
    """A safe loader that refuses a key given twice, which plain YAML settles silently in favour of the last."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        """The mapping of a node. Raises MarkedYAMLError for a second value of a key."""
        lines: dict[str, int] = {}
        for key, _ in node.value:
            line, name = key.start_mark.line + 1, str(key.value)
            if name in lines:
                text = f"the key {name!r} is given twice (lines {lines[name]} and {line}); keep one"
                raise yaml.MarkedYAMLError(problem=text, problem_mark=key.start_mark)
            lines[name] = line
        return super().construct_mapping(node, deep)


Loader.add_implicit_resolver("tag:yaml.org,2002:float", EXPONENT, list("-+0123456789"))


def load_mapping(path: Path) -> dict[str, Any]:
    """The mapping that a YAML file holds. Raises ConfigError naming the file and the line."""
    try:
        value = yaml.load(path.read_text(encoding="utf-8"), Loader=Loader)
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: is not UTF-8 text (byte {error.start}); save it as UTF-8") from None
    except yaml.YAMLError as error:
        raise ConfigError(f"{path}: {explain(error, path)}") from None
    if not isinstance(value, dict):
        raise ConfigError(f"{path}: its content is {kind(value)}; a mapping of `key: value` lines is expected")
    return value


def explain(error: yaml.YAMLError, path: Path) -> str:
    """A YAML error in words, with its line; a tab is named as what it is."""
    if not isinstance(error, yaml.MarkedYAMLError) or error.problem_mark is None:
        return f"is no YAML: {error}"
    number = error.problem_mark.line + 1
    line = path.read_text(encoding="utf-8").splitlines()[number - 1 : number]
    if line and "\t" in line[0]:
        return f"line {number}: holds a tab; YAML indents with spaces, put spaces there"
    if "given twice" in (error.problem or ""):
        return f"line {number}: {error.problem}"
    return f"line {number}: is no YAML ({error.problem}); check the indentation, colons and quotes around it"


def kind(value: Any) -> str:
    """What a YAML value is, in words."""
    names = {bool: "true or false", int: "whole number", float: "number", str: "string", dict: "mapping", list: "list"}
    return "nothing" if value is None else names.get(type(value), type(value).__name__)
