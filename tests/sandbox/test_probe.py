"""What the machine can enforce is tried out, and put into words for records."""

from pathlib import Path

import pytest

from tiebreak.cli import doctor
from tiebreak.sandbox import cgroups, host, probe
from tiebreak.sandbox.cgroups import Place


def test_the_probe_finds_what_holds_here() -> None:
    found = probe.probe()
    assert [entry.name for entry in found if not entry.holds] == []
    assert {entry.name: entry.note for entry in found} == probe.enforcement()


def test_an_attempt_that_gets_through_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(probe.ATTEMPTS, "network", lambda: False)
    assert [entry.name for entry in probe.probe() if not entry.holds] == ["network"]


def test_the_host_enforces_limits_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    confined = probe.enforcement()
    monkeypatch.setenv(host.CHOICE, "host")
    monkeypatch.setenv(host.OATH, "1")
    means = probe.enforcement()
    assert set(means) == set(confined)
    assert (means["files"], means["network"], means["memory"]) == ("nothing", "nothing", "rlimit (each process)")
    assert [(entry.name, entry.holds) for entry in probe.probe()] == [("confinement", False)]


def test_cgroups_are_told_where_there_are_any(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(cgroups, "place", lambda: Place(tmp_path))
    assert "cgroup v2 (each sandbox)" in probe.enforcement()["memory"]
    assert "cgroup v2 (each sandbox)" in probe.enforcement()["processes"]
    monkeypatch.setattr(cgroups, "place", lambda: Place(None, "no such luck"))
    assert probe.enforcement()["memory"].endswith("no such luck")
    assert "cgroup" not in probe.enforcement()["processes"]


def test_doctor_says_by_what_memory_and_processes_are_limited() -> None:
    means, finding = probe.enforcement(), doctor.look_at_limits()
    assert finding.state == "ok"
    assert means["memory"] in finding.found and means["processes"] in finding.found
