"""Releases to a real HTTP hub with the real client: once, again, after others, cut at each request, and slowed."""

import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from hub.server import Fault, Hub
from publish.conftest import REPO, bodies

from tiebreak.errors import HubError
from tiebreak.publish import access
from tiebreak.publish.hub import Outcome, Target, look
from tiebreak.publish.memory import Memory
from tiebreak.publish.plan import files_in

Send = Callable[[], Outcome]


def commits(hub: Hub) -> list[str]:
    """The titles of all commits."""
    return [item.title for item in hub.store.commits("datasets", REPO)]


def test_a_release_is_one_commit_of_a_private_repository(hub: Hub, send: Send, folder: Path) -> None:
    made = send()
    assert made.changed and made.commit == hub.store.head("datasets", REPO).id
    assert made.url == f"{hub.endpoint}/datasets/{REPO}/tree/{made.commit}"
    assert commits(hub) == ["initial commit", "A release"]
    assert hub.store.files("datasets", REPO) == bodies(folder)
    assert hub.store.is_private("datasets", REPO)


def test_the_large_files_go_by_lfs_and_the_rest_in_the_commit(hub: Hub, send: Send) -> None:
    send()
    tree = hub.store.head("datasets", REPO).tree
    large = {path for path, entry in tree.items() if entry.lfs}
    assert large == {"tables/a.parquet", "tables/b.parquet"}


def test_a_repeat_sends_nothing(hub: Hub, send: Send) -> None:
    first = send()
    hub.again()
    again = send()
    assert (again.commit, again.changed) == (first.commit, False)
    assert {method for method, _, _ in hub.asked} == {"GET"}


def test_a_change_sends_what_changed_alone(hub: Hub, send: Send, folder: Path) -> None:
    send()
    hub.again()
    (folder / "tables/a.parquet").write_bytes(b"PAR1 other")
    (folder / "study.json").unlink()
    assert send().changed
    assert hub.store.files("datasets", REPO) == bodies(folder)
    assert len([path for method, path, _ in hub.asked if method == "PUT"]) == 1


def change_remote(hub: Hub, path: str = "README.md", body: bytes = b"by hand") -> str:
    """Somebody else's commit."""
    from hub.store import entry_of

    head = hub.store.head("datasets", REPO)
    hub.store.put(body)
    return hub.store.commit("datasets", REPO, head.id, "by hand", {**head.tree, path: entry_of(body)}).id


def test_a_remote_that_others_changed_is_left_alone(hub: Hub, send: Send, folder: Path, memory: Memory) -> None:
    send()
    theirs = change_remote(hub)
    hub.again()
    with pytest.raises(HubError, match=f"the remote is ahead: its main is at {theirs}.* differs in README.md; look"):
        send()
    assert {method for method, _, _ in hub.asked} == {"GET"}
    memory.sent(f"{hub.endpoint} dataset {REPO}", theirs)  # as `tiebreak publish --over` does
    assert send().changed
    assert hub.store.files("datasets", REPO) == bodies(folder)


def test_a_commit_that_comes_first_is_refused_by_its_parent(
    hub: Hub, send: Send, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    send()
    (folder / "study.json").write_bytes(b"[]")
    seen = Hub.routed

    def first(self: Hub, request: object) -> object:
        if "/commit/" in request.path:  # type: ignore[attr-defined]
            monkeypatch.setattr(Hub, "routed", seen)
            change_remote(hub)
        return seen(self, request)  # type: ignore[arg-type]

    monkeypatch.setattr(Hub, "routed", first)
    with pytest.raises(HubError, match="the remote is ahead"):
        send()
    assert [status for _, path, status in hub.asked if "/commit/" in path] == [200, 412]
    assert hub.store.files("datasets", REPO)["README.md"] == b"by hand"


def test_our_own_commit_that_comes_first_is_built_upon(
    hub: Hub, send: Send, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    send()
    (folder / "study.json").write_bytes(b"[]")
    seen = Hub.routed

    def first(self: Hub, request: object) -> object:
        answer = seen(self, request)  # type: ignore[arg-type]
        if "/preupload/" in request.path:  # type: ignore[attr-defined]
            monkeypatch.setattr(Hub, "routed", seen)
            change_remote(hub, "study.json", b"[]")  # the same release, sent by another process of ours
        return answer

    monkeypatch.setattr(Hub, "routed", first)
    again = send()
    assert not again.changed and again.commit == hub.store.head("datasets", REPO).id


def requests_of_a_release(hub: Hub, send: Send) -> int:
    """How many requests a second, changed release makes."""
    send()
    return len(hub.asked)


@pytest.mark.parametrize("how", ["cut before", "cut after", "down", "answer"])
def test_cut_at_each_request_the_remote_is_old_or_new_and_a_repeat_finishes(
    hub: Hub, send: Send, folder: Path, memory: Memory, how: str
) -> None:
    send()
    old = hub.store.files("datasets", REPO)
    number = 0
    while True:
        (folder / "tables/a.parquet").write_bytes(f"PAR1 {how} {number}".encode())
        (folder / "new.parquet").write_bytes(f"PAR1 new {number}".encode())
        hub.again()
        if how == "down":
            hub.down_from = number
        else:
            hub.faults = {number: Fault(how)}  # type: ignore[arg-type]
        try:
            send()
            failed = False
        except HubError as problem:
            failed = True
            assert "run the same command again" in str(problem)
        reached = len(hub.asked) > number
        assert hub.store.files("datasets", REPO) in (old, bodies(folder))
        hub.again()
        repeat = send()
        assert hub.store.files("datasets", REPO) == bodies(folder)
        assert repeat.changed <= failed
        if not reached:
            break
        old, number = bodies(folder), number + 1
    assert number >= 8


def test_the_first_release_cut_at_each_request_is_finished_by_a_repeat(
    hub: Hub, send: Send, folder: Path, memory: Memory
) -> None:
    number, reached = 0, True
    while reached:
        shutil.rmtree(hub.store.folder, ignore_errors=True)
        memory.path.unlink(missing_ok=True)
        hub.again()
        hub.down_from = number
        with suppress(HubError):
            send()
        reached = len(hub.asked) > number
        there = hub.store.exists("datasets", REPO)
        assert not there or hub.store.files("datasets", REPO) in ({}, bodies(folder))
        hub.again()
        send()
        assert hub.store.files("datasets", REPO) == bodies(folder)
        number += 1
    assert number > 10


def test_a_busy_hub_is_waited_for_as_long_as_it_says(hub: Hub, send: Send, folder: Path, waits: list[float]) -> None:
    requests = requests_of_a_release(hub, send)
    for number in range(requests):
        shutil.rmtree(hub.store.folder)
        hub.again()
        hub.faults = {number: Fault("answer", 429, {"Retry-After": "7"})}
        waits.clear()
        send()
        assert waits == [8], hub.asked[number]
    hub.again()
    hub.faults = dict.fromkeys(range(100), Fault("answer", 429, {"Retry-After": "7"}))
    with pytest.raises(HubError, match="the hub still asks to wait after 5 tries"):
        send()


def test_a_slow_hub_is_borne(hub: Hub, send: Send, folder: Path) -> None:
    hub.faults = dict.fromkeys(range(99), Fault("slow", seconds=0.05))
    assert send().changed
    assert hub.store.files("datasets", REPO) == bodies(folder)


def test_a_full_disk_of_the_hub_leaves_the_old_commit(
    hub: Hub, send: Send, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    send()
    old = hub.store.files("datasets", REPO)
    (folder / "tables/a.parquet").write_bytes(b"PAR1 other")
    full = OSError(28, "No space left on device")
    with monkeypatch.context() as patched:
        patched.setattr(hub.store, "put", lambda body: (_ for _ in ()).throw(full))
        with pytest.raises(HubError, match="the hub answers 500"):
            send()
    assert hub.store.files("datasets", REPO) == old
    assert send().changed


def test_a_repository_that_is_public_is_not_filled_by_a_private_study(hub: Hub, send: Send) -> None:
    hub.store.create("datasets", REPO, private=False)
    with pytest.raises(HubError, match="is public, and publish.private is true"):
        send()


def test_a_repository_that_became_public_is_told_though_nothing_would_be_sent(hub: Hub, send: Send) -> None:
    send()
    (hub.store.place("datasets", REPO) / "about.json").write_text('{"private": false}')
    with pytest.raises(HubError, match="is public, and publish.private is true"):
        send()


def test_a_card_that_the_hub_refuses_stops_before_anything_is_sent(hub: Hub, send: Send, folder: Path) -> None:
    (folder / "README.md").write_text("---\nlicense: [\n---\n")
    with pytest.raises(HubError, match=r"the hub refuses it: Invalid metadata in README.md"):
        send()
    assert not [path for method, path, _ in hub.asked if method == "PUT" or "/commit/" in path]


def test_what_is_there_is_seen_without_a_repository(hub: Hub, folder: Path) -> None:
    assert look(access.client(), Target("model", "anna/none", files_in(folder))) is None
