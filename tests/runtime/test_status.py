"""The file with the status of the box."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
import pytest

from appliance.runtime.status import (
    NAME,
    StatusFile,
    SupervisorStatus,
    folder,
    parse_systemd_line,
    read_status,
    systemd_line,
)

WELL = SupervisorStatus(pid=7, state="idle", ready=True, healthy=True)


def test_a_status_is_readable_by_every_user(tmp_path: Path) -> None:
    StatusFile(tmp_path).write(WELL)
    assert read_status(tmp_path) == WELL
    assert (tmp_path / NAME).stat().st_mode & 0o444 == 0o444


def test_an_unchanged_status_is_not_written_again(tmp_path: Path) -> None:
    file = StatusFile(tmp_path)
    file.write(WELL)
    (tmp_path / NAME).unlink()
    file.write(WELL)
    assert read_status(tmp_path) is None


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b'{"state": "idle"}', b"\xff", b'{"x":' + b"[" * 4000]
)
def test_a_damaged_file_gives_no_status(tmp_path: Path, content: bytes) -> None:
    (tmp_path / NAME).write_bytes(content)
    assert read_status(tmp_path) is None


@pytest.mark.parametrize("kind", ["fifo", "link", "too large"])
def test_a_fifo_a_symlink_and_a_huge_file_are_ignored_without_blocking(
    tmp_path: Path, kind: str
) -> None:
    """Root reads the file too, and open(2) of a FIFO would block forever."""
    good = msgspec.json.encode(WELL)
    if kind == "fifo":
        os.mkfifo(tmp_path / NAME)
    elif kind == "link":
        (tmp_path / "elsewhere").write_bytes(good)
        (tmp_path / NAME).symlink_to(tmp_path / "elsewhere")
    else:
        (tmp_path / NAME).write_bytes(good + b" " * 65_536)
    assert read_status(tmp_path) is None


def test_a_folder_that_cannot_be_written_does_not_stop_the_box(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    StatusFile(tmp_path / "gone").write(WELL)
    assert "cannot be written" in caplog.text


def test_without_a_service_nothing_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RUNTIME_DIRECTORY", raising=False)
    assert folder() is None
    StatusFile(folder()).write(WELL)


def test_the_folder_is_the_one_that_systemd_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUNTIME_DIRECTORY", "/run/interlude:/run/other")
    assert folder() == Path("/run/interlude")


@pytest.mark.parametrize("state", ["listening", "thinking", "speaking", "holding"])
def test_a_box_in_conversation_counts_as_talking(state: str) -> None:
    assert SupervisorStatus(pid=1, state=state).talking


@pytest.mark.parametrize("state", ["starting", "idle", "muted", "failed"])
def test_a_silent_box_does_not_count_as_talking(state: str) -> None:
    assert not SupervisorStatus(pid=1, state=state).talking


@pytest.mark.parametrize(
    "faulty",
    [
        SupervisorStatus(pid=1, ready=False, healthy=True),
        SupervisorStatus(pid=1, ready=True, healthy=False),
        SupervisorStatus(pid=1, ready=True, healthy=True, failed=("speaker",)),
        SupervisorStatus(pid=1, ready=True, healthy=True, state="failed"),
    ],
)
def test_a_box_with_any_fault_is_not_well(faulty: SupervisorStatus) -> None:
    assert WELL.well
    assert not faulty.well


@pytest.mark.parametrize(
    "status",
    [
        SupervisorStatus(pid=7),
        WELL,
        SupervisorStatus(version="0.2.0rc1", pid=7, state="idle", reading=True, healthy=True),
        SupervisorStatus(pid=7, state="push_to_talk", ready=True, failed=("link", "words")),
    ],
)
def test_the_line_for_systemd_can_be_read_again(status: SupervisorStatus) -> None:
    assert parse_systemd_line(systemd_line(status), 7) == status
    shed = msgspec.structs.replace(status, shed=("the second opinion", "the light"))
    assert systemd_line(shed).endswith("; without: the second opinion, the light")
    assert parse_systemd_line(systemd_line(shed), 7) == status


def test_the_line_of_a_release_of_an_earlier_version_tells_no_version() -> None:
    assert parse_systemd_line("", 7) is None
    for line in ("listening", "without words, link"):
        found = parse_systemd_line(line, 7)
        assert found is not None
        assert (found.version, found.ready, found.healthy, found.pid) == ("", True, True, 7)
