"""The hub refuses what a hub must refuse, so that a client which passes has done right."""

import base64
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from hub.messages import User
from hub.server import Hub, serving

HEAD = {"Authorization": "Bearer owner"}
REPO = "/api/datasets/anna/a"


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[Hub]:
    with serving(tmp_path, {"owner": User("anna"), "other": User("carl")}) as found:
        found.store.create("datasets", "anna/a", private=True)
        yield found


def post(hub: Hub, path: str, value: object, token: str = "owner") -> int:
    """The status of a JSON request."""
    return httpx2.post(hub.endpoint + path, json=value, headers={"Authorization": f"Bearer {token}"}).status_code


def commit(hub: Hub, *lines: dict[str, object], parent: str | None = None) -> int:
    """The status of a commit of some lines."""
    header = {"key": "header", "value": {"summary": "s", **({"parentCommit": parent} if parent else {})}}
    body = b"".join(json.dumps(line).encode() + b"\n" for line in [header, *lines])
    return httpx2.post(f"{hub.endpoint}{REPO}/commit/main", content=body, headers=HEAD).status_code


def file(path: str, body: bytes = b"x") -> dict[str, object]:
    return {"key": "file", "value": {"path": path, "content": base64.b64encode(body).decode(), "encoding": "base64"}}


def test_an_unknown_route_is_501_and_remembered(hub: Hub) -> None:
    assert httpx2.get(f"{hub.endpoint}/api/jobs/x", headers=HEAD).status_code == 501
    assert hub.unknown == ["GET /api/jobs/x"]


def test_who_may_read_and_write(hub: Hub) -> None:
    read = {"bad": 401, "other": 404, "owner": 200}
    for token, status in read.items():
        found = httpx2.get(hub.endpoint + REPO, headers={"Authorization": f"Bearer {token}"})
        assert found.status_code == status, token
    assert httpx2.get(hub.endpoint + REPO).status_code == 401
    create = {"name": "b", "organization": "anna", "type": "dataset", "visibility": "private"}
    assert post(hub, "/api/repos/create", create, "other") == 403
    assert [post(hub, "/api/repos/create", create), post(hub, "/api/repos/create", create)] == [200, 409]
    for name in ("a--b", "a.git", "a..b", "-a", "a" * 97):
        assert post(hub, "/api/repos/create", create | {"name": name}) == 400, name


def test_a_commit_is_whole_or_not_at_all(hub: Hub) -> None:
    old = hub.store.head("datasets", "anna/a").id
    lfs = {"key": "lfsFile", "value": {"path": "l", "algo": "sha256", "oid": "0" * 64, "size": 1}}
    gone = {"key": "deletedFile", "value": {"path": "none"}}
    for line, status in ((lfs, 400), (gone, 404), (file("../x"), 400), (file(".git/x"), 400), (file("/x"), 400)):
        assert commit(hub, file("good"), line) == status
    assert hub.store.head("datasets", "anna/a").id == old
    assert commit(hub, file("good"), parent=old) == 200
    assert commit(hub, file("late"), parent=old) == 412
    assert hub.store.files("datasets", "anna/a") == {"good": b"x"}


def test_large_files_are_what_was_announced(hub: Hub) -> None:
    digest = hashlib.sha256(b"large").hexdigest()
    asked = {"operation": "upload", "transfers": ["basic"], "hash_algo": "sha256"}
    path = "/datasets/anna/a.git/info/lfs/objects/batch"
    assert post(hub, path, asked | {"objects": []}, "other") == 403
    answer = httpx2.post(
        hub.endpoint + path, json=asked | {"objects": [{"oid": digest, "size": 5}]}, headers=HEAD
    ).json()["objects"][0]
    place, check = (answer["actions"][name]["href"] for name in ("upload", "verify"))
    assert httpx2.post(check, json={"oid": digest, "size": 5}, headers=HEAD).status_code == 404
    assert httpx2.put(place.partition("?")[0], content=b"large").status_code == 403
    assert httpx2.put(place, content=b"other").status_code == 400
    assert httpx2.put(place, content=b"large").status_code == 200
    assert httpx2.post(check, json={"oid": digest, "size": 5}, headers=HEAD).status_code == 200


def test_what_is_stored_is_there_after_a_restart(hub: Hub, tmp_path: Path) -> None:
    assert commit(hub, file("good")) == 200
    with serving(tmp_path, {}) as again:
        assert again.store.files("datasets", "anna/a") == {"good": b"x"}
