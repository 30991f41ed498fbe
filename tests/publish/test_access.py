"""What is refused before anything is sent, and what is never said: the token."""

import io
import logging
import shutil
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hub.server import Fault, Hub
from publish.conftest import OWNER, READER, REPO, STRANGER

from tiebreak.errors import HubError
from tiebreak.publish import access
from tiebreak.publish.access import check_rights, client, first_line, redacted
from tiebreak.publish.hub import Outcome
from tiebreak.publish.memory import Memory

Send = Callable[[], Outcome]


def nothing_sent(hub: Hub) -> bool:
    """Whether all requests only asked."""
    return {method for method, _, _ in hub.asked} <= {"GET"}


def test_without_a_token_nothing_is_asked(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "  ")
    with pytest.raises(HubError, match="HF_TOKEN is not set; publishing needs a token that may write"):
        client()
    assert not hub.asked


@pytest.mark.parametrize(
    ("token", "repo", "words"),
    [
        ("hf_nobodynobodynobody", REPO, "the hub does not accept the token in HF_TOKEN"),
        (READER, REPO, "may only read; make one with the role `write`"),
        (STRANGER, REPO, r"is of carl, who cannot write for anna \(can: carl\)"),
        (OWNER, "carl/study", r"is of anna, who cannot write for carl \(can: anna, lab\)"),
    ],
)
def test_a_token_without_the_right_is_refused_before_anything_is_sent(
    hub: Hub, monkeypatch: pytest.MonkeyPatch, token: str, repo: str, words: str
) -> None:
    monkeypatch.setenv("HF_TOKEN", token)
    with pytest.raises(HubError, match=words) as refused:
        check_rights(client(), [repo])
    assert token not in str(refused.value) and nothing_sent(hub)


def test_ones_own_and_ones_organisation_s_repositories_may_be_written(hub: Hub) -> None:
    check_rights(client(), [REPO, "lab/study"])
    assert nothing_sent(hub)


def test_the_hub_itself_refuses_a_foreign_owner_and_a_reader(
    hub: Hub, send: Send, monkeypatch: pytest.MonkeyPatch
) -> None:
    for token in (READER, STRANGER):
        monkeypatch.setenv("HF_TOKEN", token)
        with pytest.raises(HubError, match="has no right to write there"):
            send()
    assert not hub.store.exists("datasets", REPO)


@pytest.fixture
def client_log() -> Iterator[io.StringIO]:
    """What the client logs."""
    logger, text = logging.getLogger("huggingface_hub"), io.StringIO()
    logger.addHandler(handler := logging.StreamHandler(text))
    yield text
    logger.removeHandler(handler)


def test_a_token_is_in_no_error_log_or_file(
    hub: Hub, send: Send, memory: Memory, capfd: pytest.CaptureFixture[str], tmp_path: Path, client_log: io.StringIO
) -> None:
    said: list[str] = []
    for fault in (Fault("cut before"), Fault("answer", 500, {"X-Error-Message": f"bad token {OWNER}"})):
        for number in range(12):
            shutil.rmtree(hub.store.folder, ignore_errors=True)
            hub.again()
            hub.faults = dict.fromkeys(range(number, 99), fault)
            with pytest.raises(HubError) as failed:
                send()
            said += traceback.format_exception(failed.value)
    shown = capfd.readouterr()
    log = client_log.getvalue()
    assert "Retrying in" in log and "/_large/" in log, "the client said nothing: this test shows nothing"
    kept = "".join(path.read_text() for path in tmp_path.glob("*.jsonl"))
    for text in ["".join(said), log, shown.out, shown.err, kept]:
        assert OWNER not in text and "SIGNED" not in text


def test_signed_addresses_lose_their_queries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", OWNER)
    text = redacted(f"PUT https://store/a?X-Signature=abc&b=c failed for {OWNER}")
    assert text == "PUT https://store/a?… failed for $HF_TOKEN"
    assert first_line(OSError()) == "OSError"


MISCOPIED = [
    "hf_secretone\nhf_secrettwo",
    "hf_secretone hf_secrettwo",
    "hf_secretone\u200bhf_secrettwo",
    "hf_secretone\x7fx",
]


@pytest.mark.parametrize("token", MISCOPIED)
def test_a_token_that_no_header_can_hold_is_refused_unseen(
    hub: Hub, monkeypatch: pytest.MonkeyPatch, token: str
) -> None:
    monkeypatch.setenv("HF_TOKEN", token)
    with pytest.raises(HubError, match="another character that no token has; copy the token once more") as refused:
        client()
    assert "secret" not in "".join(traceback.format_exception(refused.value)) and not hub.asked
    for shown in (token, repr(token), ascii(token), repr(token.encode()), f"Illegal header value b'Bearer {token}'"):
        assert "secret" not in redacted(f"the client says: {shown}")


def test_what_follows_bearer_is_no_text_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", OWNER)
    assert redacted("authorization: Bearer hf_other, b'Bearer hf_third'") == (
        "authorization: Bearer $HF_TOKEN b'Bearer $HF_TOKEN'"
    )


def test_the_first_wait_is_never_endless() -> None:
    assert access.wait_of({"Retry-After": "999999"}) == access.LONGEST_WAIT + 1
    assert access.wait_of({"Retry-After": "Wed, 21 Oct 2026"}) == 1
    assert access.wait_of({"ratelimit": '"api";r=0;t=55', "Retry-After": "3"}) == 56


def test_a_full_disk_here_stops_before_anything_is_sent(hub: Hub, send: Send, memory: Memory, tmp_path: Path) -> None:
    small = tmp_path / "small"
    small.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(small)]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("this user cannot mount a small file system")
    try:
        (small / "filler").write_bytes(b"0" * 65536)
        object.__setattr__(memory, "path", small / "sent.jsonl")
        with pytest.raises(HubError, match=r"No space left on device\); nothing was sent"):
            memory.prepare()
        with pytest.raises(HubError, match=r"No space left on device\); nothing is sent without it"):
            send()
        assert hub.store.head("datasets", REPO).title == "initial commit"
        assert not [path for method, path, _ in hub.asked if method == "PUT" or "/commit/" in path]
    finally:
        subprocess.run(["umount", str(small)], check=True)


def test_the_client_is_loaded_only_when_it_is_used() -> None:
    code = "import sys, tiebreak.publish.hub; sys.exit('huggingface_hub' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
