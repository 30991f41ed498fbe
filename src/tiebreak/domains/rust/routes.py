"""Which way can judge a crate: what a batch or bare rustc would see differently goes to the way that would not."""

import re
import tomllib
from functools import lru_cache
from itertools import pairwise
from typing import Any

from tiebreak.domains.rust.asks import Ask, Way
from tiebreak.domains.rust.lexer import climbs_out, tokens

PLAIN_PACKAGE = {"name", "version", "edition", "publish", "description", "license", "authors", "readme"}
# Words that may mean something else when the crate is a module among others, or that reach outside the crate.
DIFFERENT = frozenset(
    "unsafe extern include include_str include_bytes type_name type_name_of_val Location proc_macro global_asm".split()
)
MACROS = frozenset("module_path file asm".split())  # refused where a `!` follows
ATTRIBUTES = frozenset(  # refused inside `#[…]`
    "path link export_name no_mangle link_section start used feature macro_use macro_export no_main no_std deny "
    "forbid global_allocator cfg_attr".split()
)
LOOKED_AT = DIFFERENT | MACROS | ATTRIBUTES | {"crate", "#", "mod"}
BATCH_MARK = "tb_"


def route(ask: Ask, wanted: Way) -> Way:
    """The fastest way, up to `wanted`, that says of this crate what cargo would (`auto` counts as `batch`)."""
    if ask.tool != "exam" and (wanted == "cargo" or not plain(ask)):
        return "cargo"
    return "direct" if wanted == "direct" or not batchable(ask) else "batch"


def plain(ask: Ask) -> bool:
    """Whether bare rustc sees what it would see under cargo: manifest, files, and no look at cargo's variables, nor at
    the debugging information that only cargo asks for.
    """
    sources = [text for path, text in ask.files if path.endswith(".rs")]
    if any(re.search(r"\benv\s*!|\boption_env\b|(?i:backtrace)", text) for text in sources):
        return False
    return plain_manifest(dict(ask.files).get("Cargo.toml", "")) and plain_files(ask)


@lru_cache(maxsize=4096)
def plain_manifest(text: str) -> bool:
    """Whether the manifest says no more than name, version and edition 2021."""
    try:
        manifest = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return False
    package = manifest.get("package", {})
    plain = isinstance(package, dict) and set(package) <= PLAIN_PACKAGE and isinstance(package.get("name"), str)
    rest = {key: value for key, value in manifest.items() if key != "package"}
    name_is_plain = plain and package["name"].replace("-", "_").isidentifier() and package["name"].isascii()
    return name_is_plain and package.get("edition") == "2021" and _plain_rest(rest, package["name"])


def _plain_rest(rest: dict[str, Any], name: str) -> bool:
    """Whether the other tables say only what holds anyway."""
    library = rest.get("lib", {})
    as_usual = {"path": "src/lib.rs", "name": name.replace("-", "_")}
    return (
        set(rest) <= {"dependencies", "lib"}
        and rest.get("dependencies", {}) == {}
        and all(as_usual.get(key) == value for key, value in library.items())
    )


def plain_files(ask: Ask) -> bool:
    """Whether the crate is a manifest and sources under src/, nothing that cargo would find by itself."""
    rest = [path for path, _ in ask.files if path != "Cargo.toml"]
    return all(path.startswith("src/") and path.endswith(".rs") and "/bin/" not in path for path in rest)


def batchable(ask: Ask) -> bool:
    """Whether the crate means the same as a module among others: one source file without reaching outside."""
    sources = [text for path, text in ask.files if path.endswith(".rs")]
    return len(sources) == 1 and ask.source is not None and same_as_module(sources[0])


def same_as_module(source: str) -> bool:
    """Whether nothing in a root source tells a module from a crate. A macro of its own could hide what does."""
    if BATCH_MARK in source:
        return False
    words = list(tokens(source))
    if (
        "macro_rules" in words
        or climbs_out(words)
        or {"thread", "current"} <= set(words)
        or _adds_to_foreign_types(words)
        or _evaluates_late(words)
    ):
        return False
    attribute = importing = False
    for index, word in enumerate(words):
        importing = word == "use" or (importing and word != ";")
        if word == "env" and (importing or _is_path_or_macro(words, index)):
            return False
        if word == "#" and words[index + 1 : index + 2] == ["["]:
            attribute = True
        if (word in LOOKED_AT or word.startswith("r#")) and _differs(words, index, attribute):
            return False
        attribute = attribute and word != "]"
    return True


def _adds_to_foreign_types(words: list[str]) -> bool:
    """Whether an `impl … for` names a type that is not the source's own: others in a batch would see it."""
    own = {words[index + 1] for index, word in enumerate(words[:-1]) if word in ("struct", "enum", "union")}
    pending = False
    for index, word in enumerate(words[:-1]):
        pending = word == "impl" or (pending and word not in ("{", ";"))
        if word == "for" and pending and words[index + 1] not in (*own, "<"):
            return True
    return False


def _evaluates_late(words: list[str]) -> bool:
    """Whether a constant could be evaluated only where its function is compiled, which depends on who may call it."""
    items = [words[index + 1] for index, word in enumerate(words[:-1]) if word == "const"]
    generic = "trait" in words or ("impl", "<") in pairwise(words)
    return "{" in items or (generic and any(word not in ("fn", "*") for word in items))


def _is_path_or_macro(words: list[str], index: int) -> bool:
    """Whether the word is part of a path or names a macro call (a mere variable `env` is harmless)."""
    after = words[index + 1 : index + 3]
    return words[max(0, index - 2) : index] == [":", ":"] or after == [":", ":"] or after[:1] == ["!"]


def _differs(words: list[str], index: int, attribute: bool) -> bool:
    """Whether this word, where it stands, may mean something else in a module."""
    word, before, after = words[index], words[max(0, index - 2) : index], words[index + 1 : index + 2]
    return (
        word in DIFFERENT
        or word.startswith("r#")
        or (attribute and word in ATTRIBUTES)
        or (word in MACROS and after == ["!"])
        or (word == "crate" and before != ["pub", "("])
        or (word == "#" and after == ["!"])
        or (word == "mod" and words[index + 2 : index + 3] == [";"])
    )
