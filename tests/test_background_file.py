"""A small file written in a thread: the newest content wins, and the caller does not block."""

from __future__ import annotations

import threading
import time
from functools import partial
from pathlib import Path

from appliance.background_file import BackgroundFileWriter, write_private
from appliance.errors import StorageError
from tests.waiting import PATIENCE_S, until


class WriteLog:
    """Records the outcome of each write; `stalls`: the first write blocks, as on a stalled card."""

    def __init__(self, *, stalls: bool = False) -> None:
        self.outcomes: list[tuple[bytes, str]] = []
        self.proceed = threading.Event()
        if not stalls:
            self.proceed.set()

    def __call__(self, data: bytes, problem: str) -> None:
        self.outcomes.append((data, problem))
        assert self.proceed.wait(PATIENCE_S)

    def first(self) -> None:
        assert self.proceed.wait(PATIENCE_S)


def test_content_is_written_to_the_disk_and_reported(tmp_path: Path) -> None:
    log, file = WriteLog(), tmp_path / "deep" / "file"
    writer = BackgroundFileWriter("file", partial(write_private, file), log)
    writer.write_later(b"one")
    until(lambda: log.outcomes == [(b"one", "")])
    assert file.read_bytes() == b"one"
    assert file.stat().st_mode & 0o777 == 0o600
    writer.write_later(b"one")  # identical content is written again: the file may have been deleted
    until(lambda: len(log.outcomes) == 2)
    writer.request_stop()
    writer.join(PATIENCE_S)


def test_during_a_stall_the_caller_is_not_blocked_and_only_the_newest_content_waits(
    tmp_path: Path,
) -> None:
    log, file = WriteLog(stalls=True), tmp_path / "file"
    writer = BackgroundFileWriter("file", partial(write_private, file), log, first=log.first)
    began_s = time.monotonic()
    for number in range(1000):
        writer.write_later(str(number).encode())
    assert time.monotonic() - began_s < 1.0
    assert not file.exists()
    log.proceed.set()
    until(lambda: log.outcomes)
    writer.request_stop()
    writer.join(PATIENCE_S)
    assert log.outcomes == [(b"999", "")]


def test_rapid_changes_are_written_at_once_and_then_after_the_gap(tmp_path: Path) -> None:
    log, file = WriteLog(), tmp_path / "file"
    writer = BackgroundFileWriter("file", partial(write_private, file), log, gap_s=600.0)
    writer.write_later(b"0")
    until(lambda: log.outcomes)
    for number in range(1, 100):
        writer.write_later(str(number).encode())
    writer.request_stop()  # the last content is written without waiting for the gap
    writer.join(PATIENCE_S)
    assert [data for data, _ in log.outcomes] == [b"0", b"99"]
    assert file.read_bytes() == b"99"


def test_rapid_changes_are_written_no_more_often_than_the_gap_allows(tmp_path: Path) -> None:
    log = WriteLog()
    writer = BackgroundFileWriter("file", partial(write_private, tmp_path / "file"), log, gap_s=0.2)
    end_s = time.monotonic() + 1.0
    while time.monotonic() < end_s:
        writer.write_later(str(time.monotonic()).encode())
        time.sleep(0.005)
    writer.request_stop()
    writer.join(PATIENCE_S)
    assert 2 <= len(log.outcomes) <= 7


def test_a_failed_write_is_reported_and_a_later_one_succeeds(tmp_path: Path) -> None:
    log, folder = WriteLog(), tmp_path / "folder"
    folder.write_text("a file in the folder's place")
    writer = BackgroundFileWriter("file", partial(write_private, folder / "file"), log)
    writer.write_later(b"one")
    until(lambda: log.outcomes)
    assert log.outcomes[0][1]
    folder.unlink()
    writer.write_later(b"two")
    until(lambda: log.outcomes[-1] == (b"two", ""))
    writer.request_stop()
    writer.join(PATIENCE_S)
    assert (folder / "file").read_bytes() == b"two"


def test_a_failed_write_is_not_retried_at_the_stop(tmp_path: Path) -> None:
    log, folder = WriteLog(), tmp_path / "folder"
    folder.touch()
    writer = BackgroundFileWriter("file", partial(write_private, folder / "file"), log)
    writer.write_later(b"one")
    until(lambda: log.outcomes)
    writer.request_stop()
    writer.join(PATIENCE_S)
    assert len(log.outcomes) == 1


def test_the_write_function_runs_in_the_thread_and_its_error_is_reported() -> None:
    threads: list[str] = []

    def make(number: int) -> None:
        threads.append(threading.current_thread().name)
        if number:
            raise StorageError(f"number {number} cannot be written.", "Is the disk full?")

    outcomes: list[tuple[int, str]] = []
    writer = BackgroundFileWriter("numbers", make, lambda n, problem: outcomes.append((n, problem)))
    writer.write_later(0)
    until(lambda: outcomes == [(0, "")])
    writer.write_later(7)
    until(lambda: len(outcomes) == 2)
    writer.request_stop()
    writer.join(PATIENCE_S)
    assert outcomes[1] == (7, "number 7 cannot be written. Is the disk full?")
    assert threads == ["numbers", "numbers"]
