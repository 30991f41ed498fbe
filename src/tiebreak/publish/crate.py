"""The crate: a release described as a Workflow Run RO-Crate (RO-Crate 1.1; Workflow Run Crate 0.5), from the records.

One `CreateAction` stands for the whole run and one for every job, with what it read and made. What the release does not
hold as a file of its own (members of packs, weights, inputs from the repository) is described by path and SHA-256.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tiebreak.chain import job_of
from tiebreak.job import write_json
from tiebreak.publish.records import Record

NAME = "ro-crate-metadata.json"
WORKFLOW = "workflow/Snakefile"
PROFILES = {
    "https://w3id.org/ro/wfrun/process/0.5": "Process Run Crate",
    "https://w3id.org/ro/wfrun/workflow/0.5": "Workflow Run Crate",
    "https://w3id.org/workflowhub/workflow-ro-crate/1.0": "Workflow RO-Crate",
}
BIOSCHEMAS = "https://bioschemas.org/profiles/ComputationalWorkflow/1.0-RELEASE"
TERMS = {"sha256": "https://w3id.org/ro/terms/workflow-run#sha256"}
AGENT = {"@id": "#snakemake"}
TYPES = {
    ".json": "application/json",
    ".jsonl": "application/jsonl",
    ".parquet": "application/vnd.apache.parquet",
    ".zip": "application/zip",
    ".html": "text/html",
    ".md": "text/markdown",
    ".svg": "image/svg+xml",
}
SPECIAL: dict[str, dict[str, Any]] = {
    "README.md": {"about": {"@id": "./"}},
    "LICENSE": {"@type": ["File", "CreativeWork"]},
}


def write_crate(release: Path, records: Sequence[Record], about: Mapping[str, str]) -> None:
    """Write the metadata of the crate in the folder `release`, which must hold all its other files.

    about: name, description, commit. The licence is what the file LICENSE says.
    The same records and files give the same bytes.
    """
    from rocrate.rocrate import ROCrate

    crate = ROCrate(version="1.1", gen_preview=False)
    first, last = min(record["started"] for record in records), max(record["ended"] for record in records)
    root = crate.root_dataset
    crate.metadata.extra_terms.update(TERMS)
    root["name"], root["description"], root["license"] = about["name"], about["description"], {"@id": "LICENSE"}
    root["datePublished"] = moment(last)
    add_profiles(crate)
    add_files(crate, release)
    add_workflow(crate, release, records, about)
    for record in records:
        add_job(crate, record)
    add_run(crate, records, first, last, about)
    text = crate.metadata.generate()
    text["@graph"] = sorted(text["@graph"], key=lambda entity: (entity["@id"] != NAME, entity["@id"]))
    write_json(release / NAME, text)


def add_profiles(crate: Any) -> None:
    """The profiles that the crate follows."""
    from rocrate.model.contextentity import ContextEntity

    for uri, name in PROFILES.items():
        version = uri.rsplit("/", 1)[1]
        crate.add(ContextEntity(crate, uri, {"@type": "CreativeWork", "name": name, "version": version}))
    crate.root_dataset["conformsTo"] = [{"@id": uri} for uri in PROFILES]


def add_files(crate: Any, release: Path) -> None:
    """Every file of the release but the two that describe it."""
    for path in sorted(release.rglob("*")):
        name = path.relative_to(release).as_posix()
        if path.is_file() and name not in (NAME, "manifest.json", WORKFLOW):
            facts = {"name": name, "encodingFormat": TYPES.get(path.suffix, "text/plain")} | SPECIAL.get(name, {})
            crate.add_file(path, name, properties=facts | {"contentSize": str(path.stat().st_size)})


def add_workflow(crate: Any, release: Path, records: Iterable[Record], about: Mapping[str, str]) -> None:
    """The workflow, and each rule of it that ran as a tool."""
    from rocrate.model.contextentity import ContextEntity

    facts: dict[str, Any] = {"name": "Tiebreak", "version": about["commit"], "encodingFormat": "text/plain"}
    facts |= {"conformsTo": {"@id": BIOSCHEMAS}}
    workflow = crate.add_workflow(release / WORKFLOW, WORKFLOW, main=True, lang="snakemake", properties=facts)
    rules = {record["rule"]: record["params"]["code"] for record in records}
    for rule, code in sorted(rules.items()):
        about_rule = {"@type": "SoftwareApplication", "name": rule, "softwareVersion": code}
        crate.add(ContextEntity(crate, f"#rule-{rule}", about_rule | {"description": f"rule {rule} of the workflow"}))
    workflow["hasPart"] = [{"@id": f"#rule-{rule}"} for rule in sorted(rules)]
    version = next(iter(records))["versions"].get("snakemake", "")
    software = {"@type": "SoftwareApplication", "name": "Snakemake", "url": "https://snakemake.github.io"}
    crate.add(ContextEntity(crate, AGENT["@id"], software | {"softwareVersion": version or "as locked"}))


def add_job(crate: Any, record: Record) -> None:
    """A job as an action: what it read and made, when, on what."""
    from rocrate.model.contextentity import ContextEntity

    facts = {
        "@type": "CreateAction",
        "name": job_of(record),
        "description": " ".join(record["command"]),
        "instrument": {"@id": f"#rule-{record['rule']}"},
        "agent": AGENT,
        "object": single([reference(crate, item) for item in record["inputs"]]),
        "result": single([reference(crate, item) for item in record["outputs"]]),
        "startTime": moment(record["started"]),
        "endTime": moment(record["ended"]),
        "actionStatus": "http://schema.org/CompletedActionStatus",
    }
    action = crate.add(ContextEntity(crate, f"#job-{job_of(record)}", facts))
    crate.root_dataset.append_to("mentions", action)


def reference(crate: Any, item: Mapping[str, str]) -> dict[str, str]:
    """What a job read or made: the release's own file where it has it, else a description with its digest."""
    from rocrate.model.contextentity import ContextEntity

    file = crate.get(in_release(item["path"]))
    if file is not None:
        file["sha256"] = item["sha256"]
        return {"@id": file.id}
    identifier = f"#sha256-{item['sha256'][:16]}-{item['path']}"
    if crate.get(identifier) is None:
        facts = {"@type": "CreativeWork", "name": item["path"], "identifier": f"sha256:{item['sha256']}"}
        crate.add(ContextEntity(crate, identifier, facts))
    return {"@id": identifier}


def single(values: list[Any]) -> Any:
    """A list, or its only value, as JSON-LD has it."""
    return values[0] if len(values) == 1 else values


def moment(stamp: str) -> str:
    """A record's moment with its offset written out."""
    return stamp.replace("Z", "+00:00")


def in_release(path: str) -> str:
    """The path that a file under results/<study>/ has in a release."""
    return re.sub(r"^results/[^/]+/", "results/", path)


def add_run(crate: Any, records: Sequence[Record], first: str, last: str, about: Mapping[str, str]) -> None:
    """The whole run as one action of the workflow, from the study's section to the report."""
    from rocrate.model.contextentity import ContextEntity

    report = next(record for record in records if record["rule"] == "report")
    facts = {
        "@type": "CreateAction",
        "name": f"run of {about['name']}",
        "description": json.dumps({"commit": about["commit"]}),
        "instrument": {"@id": WORKFLOW},
        "agent": AGENT,
        "object": {"@id": "study.json"},
        "result": [reference(crate, item) for item in report["outputs"]],
        "startTime": moment(first),
        "endTime": moment(last),
        "actionStatus": "http://schema.org/CompletedActionStatus",
    }
    crate.root_dataset.append_to("mentions", crate.add(ContextEntity(crate, "#run", facts)))
