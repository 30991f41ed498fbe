"""Checks of a release's files: against its manifest, its records against each other, and its models."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tiebreak.chain import job_of
from tiebreak.digest import code_digest, file_digest, json_digest
from tiebreak.provenance import path_digest
from tiebreak.publish import manifest
from tiebreak.publish.context import Context
from tiebreak.publish.records import Record, files_of, made, model_digests
from tiebreak.publish.replay import ROOT
from tiebreak.publish.science import science_digest
from tiebreak.publish.verdicts import Difference, Verdict, differs


def check_manifest(release: Path, found: manifest.Manifest) -> Iterator[Verdict]:
    """Every file is in the manifest with its digest, and nothing else is there."""
    names = set(manifest.listed(release))
    for name in sorted(names ^ set(found.files)):
        here, there = ("there" if name in side else "absent" for side in (names, found.files))
        yield differs("files", Difference(name, "", here, f"{there} by manifest.json"))
        return
    for name, said in found.files.items():
        whole = {"sha256": file_digest(release / name), "bytes": (release / name).stat().st_size}
        if whole != said:
            yield differs("files", Difference(name, "SHA-256 and size", whole, said), len(names))
            return
    detail = "each is in manifest.json with its SHA-256 and size, and nothing else is there"
    yield Verdict("files", "bit-exact", detail, len(names))


def check_science(context: Context) -> Iterator[Verdict]:
    """The science digest of the results is the manifest's."""
    root = context.paths.root
    names = [path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()]
    found = science_digest(root, names)
    if found != context.manifest.science:
        yield differs("science digest", Difference("results", "digest", found, context.manifest.science))
    else:
        yield Verdict("science digest", "bit-exact", found)


def check_records(context: Context) -> Iterator[Verdict]:
    """Each result is what the record of its job says, and each job read what the jobs before it made."""
    makers = {item["path"]: (record, item["sha256"]) for record in context.records for item in record["outputs"]}
    known = {path for record in context.records for path in held(context, record)}
    put = {context.paths.record(job_of(record)) for record in context.records} | set(context.paths.patches.glob("*"))
    for path in sorted(item for item in context.paths.root.rglob("*") if item.is_file()):
        if path not in known | put:
            yield differs("records", Difference(context.named(path), "job that made it", "none", "a record"))
            return
    for record in context.records:
        for difference in [*outputs_apart(context, record), *inputs_apart(record, makers)]:
            yield differs("records", difference)
            return
    for difference in patches_apart(context):
        yield differs("records", difference)
        return
    yield Verdict("records", "bit-exact", "each file is what its job made, each job read what was made", len(known))


def held(context: Context, record: Record) -> Iterator[Path]:
    """The files of the release that a job made."""
    for path in made(record):
        yield from files_of(context.place / path)
    for item in record["outputs"]:
        if item["name"] == "model":
            yield context.place / item["path"] / "stopped.json"


def outputs_apart(context: Context, record: Record) -> Iterator[Difference]:
    """Outputs of a job that are gone, or others than it recorded."""
    for path, digest in made(record).items():
        place = context.place / path
        found = path_digest(place) if place.exists() else "absent"
        if found != digest:
            yield Difference(path, "SHA-256", found, f"{digest} by the record of {job_of(record)}")


def inputs_apart(record: Record, makers: Mapping[str, tuple[Record, str]]) -> Iterator[Difference]:
    """Inputs of a job that are others than their makers recorded."""
    for item in record["inputs"]:
        if item["path"] in makers and makers[item["path"]][1] != item["sha256"]:
            maker, digest = makers[item["path"]]
            expected = f"{digest} by the record of {job_of(maker)}"
            yield Difference(item["path"], f"SHA-256 that {job_of(record)} read", item["sha256"], expected)


def patches_apart(context: Context) -> Iterator[Difference]:
    """Patches of the code that are not what their names say, that no record names, or that a record misses."""
    patches = [record["git"].get("patch") for record in context.records]
    named = {f"{patch['sha256']}.patch" for patch in patches if patch and patch["kept"]}
    found = {path.name: path for path in sorted(context.paths.patches.glob("*"))}
    for name in sorted(named ^ found.keys()):
        here, there = ("there" if name in side else "absent" for side in (found.keys(), named))
        yield Difference(f"patches/{name}", "", here, f"{there} by the records")
    for name, path in found.items():
        if (digest := file_digest(path)) != path.stem:
            yield Difference(f"patches/{name}", "SHA-256", digest, path.stem)


def check_models(context: Context, folder: Path | None) -> Iterator[Verdict]:
    """The manifest's models are those of the records; with `folder`, which holds <run>/, their files are those too."""
    recorded = model_digests(context.records)
    for run, model in sorted(context.manifest.models.items()):
        name = f"model of {run}"
        if model["digest"] != recorded.get(run):
            expected = f"{recorded.get(run)} by the record of its training"
            yield differs(name, Difference("manifest.json", f"models.{run}.digest", model["digest"], expected))
        elif (whole := digest_of(model["files"])) != model["digest"]:
            yield differs(name, Difference("manifest.json", f"models.{run}.files", whole, model["digest"]))
        elif folder is None:
            yield Verdict(name, "not re-run", "its weights are not in the release; compare them with --models FOLDER")
        else:
            yield check_model(name, folder / run, model)


def digest_of(files: Mapping[str, str]) -> str:
    """The digest of a folder (`provenance.path_digest`) from those of its files."""
    return json_digest([[name, files[name]] for name in sorted(files, key=Path)])


def check_model(name: str, folder: Path, model: Mapping[str, Any]) -> Verdict:
    """A model's files against the manifest; its card, which is written later, is not compared."""
    files = {path: digest for path, digest in model["files"].items() if path != "README.md"}
    for path, digest in sorted(files.items()):
        found = file_digest(folder / path) if (folder / path).is_file() else "absent"
        if found != digest:
            return differs(name, Difference(str(folder / path), "SHA-256", found, digest))
    return Verdict(name, "bit-exact", "its files are those that were trained", len(files))


def check_code(context: Context) -> Iterator[Verdict]:
    """Whether this version's code is the code that made the results; another one is noted, since results decide."""
    other = []
    for record in context.records:
        script = ROOT / "scripts" / f"{record['rule']}.py"
        if not script.is_file() or code_digest(script, ROOT, context.study.domain) != record["params"]["code"]:
            other.append(job_of(record))
    commit = context.manifest.commit
    said = f"the results are of commit {commit}" + ("; changed trees are noted in records" if dirty(context) else "")
    if other:
        yield Verdict(
            "code", "noted", f"{len(other)} jobs ran other code than this, first {other[0]}; {said}", len(other)
        )
    else:
        yield Verdict("code", "bit-exact", f"every job ran the code of this version; {said}", len(context.records))


def dirty(context: Context) -> bool:
    """Whether a job ran in a tree that differed from its commit."""
    return any(record["git"]["dirty"] for record in context.records)
