"""Checks of which jobs there are: those that the study asks for and no other, each with the inputs, outputs and
parameters that its rule gives it. Only then does it mean something to run one of them again."""

import re
from collections.abc import Iterator, Mapping, Sequence
from posixpath import normpath
from typing import Any

from tiebreak.chain import job_of
from tiebreak.publish.context import Context
from tiebreak.publish.records import LINES, Record
from tiebreak.publish.verdicts import Difference, Verdict, differs
from tiebreak.publish.wanted import TOOLS, Wanted, wanted_jobs
from tiebreak.publish.wanted_params import DIGESTS, OF_RULE, chosen_params, wanted_params
from tiebreak.study import Study

OUTSIDE = {
    "words": re.compile(r"resources/words/[^/]+\.txt"),
    "pages": re.compile(r"src/tiebreak/report/(templates|viewer)/[^/]+"),
    "tool": re.compile(r"results/\.tools/[^/]+/installed\.json"),
    "engine": re.compile(r"results/\.tools/[^/]+/installed\.json"),
    "lock": re.compile(r"requirements/[^/]+\.txt"),
    "imported": re.compile(r"(?!results/).+"),
    "base": re.compile(r".+"),
}
"""Inputs that no job of the study makes, by their names in the rules, and where they lie."""

READS = {
    "replies": ("words",),
    "blueprints": ("words", "imported"),
    "base": ("words",),
    "sft": ("base",),
    "tokens": ("base",),
    "trial": ("tool", "engine"),
    "rlvr": ("tool", "engine"),
    "probe": ("engine",),
    "shard": ("engine",),
    "evaluation": ("engine",),
    "budgets": ("engine",),
    "bands": ("engine",),
    "report": ("pages",),
    "vllm_server": ("lock",),
}
"""Which of them each rule may read."""

ASKED = re.compile(r"[\w./-]+")
DIGEST = re.compile(r"[0-9a-f]{64}")


def check_jobs(context: Context) -> Iterator[Verdict]:
    """Every job that the study asks for has its record, with the files and parameters of its rule; no other has."""
    for difference in jobs_apart(context.study, context.records):
        yield differs("jobs", difference, len(context.records))
        return
    said = "those that study.json asks for and no other, each with the files and parameters that its rule gives it"
    yield Verdict("jobs", "bit-exact", said, len(context.records))


def jobs_apart(study: Study, records: Sequence[Record]) -> Iterator[Difference]:
    """Records that are missing, unknown, there twice, or of other files or parameters than the study's."""
    wanted = wanted_jobs(study, made_base=is_made(study, records))
    names = [job_of(record) for record in records]
    for name in wanted:
        if name not in names:
            yield Difference(LINES, "", f"no record of job {name}", "one, by study.json")
    for name, record in zip(names, records, strict=True):
        if names.count(name) > 1:
            yield Difference(LINES, "", f"{names.count(name)} records of job {name}", "one")
        elif record["rule"] in TOOLS:
            yield from tool_apart(study, record)
        elif name not in wanted:
            yield Difference(LINES, "", f"a record of job {name}", "none, by study.json")
        else:
            yield from job_apart(study, record, wanted[name])


def is_made(study: Study, records: Sequence[Record]) -> bool:
    """Whether a job made the base: not where the study names a folder, which this machine need not have."""
    model = study.model
    if model.base == "tiny" or model.revision is None:
        return model.base == "tiny"
    return any(record["rule"] == "base" for record in records)


def job_apart(study: Study, record: Record, wanted: Wanted) -> Iterator[Difference]:
    """What a job's record says otherwise than its rule."""
    for name, expected in (("rule", wanted.rule), ("wildcards", dict(wanted.wildcards))):
        if record[name] != expected:
            yield told(record, name, record[name], expected)
    yield from files_apart(record, "outputs", wanted.outputs, ())
    yield from files_apart(record, "inputs", wanted.inputs, READS.get(wanted.rule, ()))
    yield from base_apart(study, record, wanted)
    yield from params_apart(study, record)


def tool_apart(study: Study, record: Record) -> Iterator[Difference]:
    """What the record of an installation says otherwise than its rule; it makes nothing that a release holds."""
    if record["wildcards"]:
        yield told(record, "wildcards", record["wildcards"], {})
    for item in record["outputs"]:
        if item["name"] != "installed" or not OUTSIDE["tool"].fullmatch(item["path"]):
            yield told(record, f"outputs.{item['name']}", item["path"], "installed.json in a folder of results/.tools")
    yield from files_apart(record, "inputs", {}, READS.get(record["rule"], ()))
    yield from params_apart(study, record)


def told(record: Record, field: str, found: Any, expected: Any) -> Difference:
    """A difference between a record and the study."""
    return Difference(f"{LINES}, {job_of(record)}", field, found, expected)


def files_apart(
    record: Record, side: str, wanted: Mapping[str, str | list[str]], outside: Sequence[str]
) -> Iterator[Difference]:
    """Inputs or outputs of a job that are not those of its rule; a list's order says nothing."""
    found = by_name(record[side])
    for name, paths in found.items():
        if name in wanted or name not in outside:
            continue
        if odd := [path for path in paths if not OUTSIDE[name].fullmatch(normpath(path))]:
            yield told(record, f"{side}.{name}", odd[0], "a file from outside of the study's results")
    known = {name: paths for name, paths in found.items() if name in wanted or name not in outside}
    expected = {name: [path] if isinstance(path, str) else sorted(path) for name, path in wanted.items()}
    for name in sorted(known.keys() | expected.keys()):
        if known.get(name) != expected.get(name):
            yield told(record, f"{side}.{name}", known.get(name), expected.get(name))


def by_name(items: Sequence[Mapping[str, str]]) -> dict[str, list[str]]:
    """The paths of a record's files by their names in the rule, sorted; `name.0`, `name.1`, … are one list."""
    found: dict[str, list[str]] = {}
    for item in items:
        found.setdefault(item["name"].partition(".")[0], []).append(item["path"])
    return {name: sorted(paths) for name, paths in found.items()}


def base_apart(study: Study, record: Record, wanted: Wanted) -> Iterator[Difference]:
    """A base from outside that is not the one that the study names."""
    for item in record["inputs"]:
        made = item["name"] != "base" or "base" in wanted.inputs
        if not made and normpath(item["path"]) != normpath(study.model.base):
            yield told(record, "inputs.base", item["path"], study.model.base)


def params_apart(study: Study, record: Record) -> Iterator[Difference]:
    """Parameters of a job that are not the study's, that it lacks, or that its rule does not have."""
    found, rule = record["params"], record["rule"]
    expected, chosen = wanted_params(study, rule, record["wildcards"]), chosen_params(study, record["wildcards"])
    free = {"asked": ASKED} if "asked" in OF_RULE[rule] else {}
    free |= dict.fromkeys(DIGESTS if rule != "vllm_server" else DIGESTS[:1], DIGEST)
    for name in sorted(found.keys() | expected.keys() | free.keys()):
        if name in free:
            if not (isinstance(found.get(name), str) and free[name].fullmatch(found[name])):
                yield told(record, f"params.{name}", found.get(name), "a digest, or the file of the study")
            continue
        one, right = found.get(name, "absent"), expected.get(name, "absent")
        if filled(one, right, chosen.get(name)) != right:
            yield told(record, f"params.{name}", one, f"{right} by study.json")


def filled(found: Any, expected: Any, chosen: Any) -> Any:
    """A value with the keys that it lacks, where they are defaults: the job's version did not have them yet."""
    if not isinstance(found, dict) or not isinstance(expected, dict):
        return found
    said = chosen if isinstance(chosen, dict) else {}
    added = {key: value for key, value in expected.items() if key not in found and key not in said}
    return added | {key: filled(value, expected.get(key), said.get(key)) for key, value in found.items()}
