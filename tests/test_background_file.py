"""One small file, written in a thread: the newest content counts, and nobody waits."""

from __future__ import annotations

import threading
import time
from functools import partial
from pathlib import Path

from appliance.background_file import BackgroundFileWriter, write_private
from appliance.errors import StorageError
from tests.waiting import PATIENCE_S, until


class Told:
    """What became of each write; the first may be held up, as by a card that stalls."""

    def __init__(self, *, stalls: bool = False) -> None:
        self.outcomes: list[tuple[bytes, str]] = []
        self.go = threading.Event()
        if not stalls:
            self.go.set()

    def __call__(self, data: bytes, problem: str) -> None:
        self.outcomes.append((data, problem))
        assert self.go.wait(PATIENCE_S)

    def first(self) -> None:
        assert self.go.wait(PATIENCE_S)


def test_what_is_put_is_on_the_disk_and_said_to_be(tmp_path: Path) -> None:
    told, file = Told(), tmp_path / "deep" / "file"
    newest = BackgroundFileWriter("file", partial(write_private, file), told)
    newest.write_later(b"one")
    until(lambda: told.outcomes == [(b"one", "")])
    assert file.read_bytes() == b"one"
    assert file.stat().st_mode & 0o777 == 0o600
    newest.write_later(b"one")  # also what is there already: it may have been deleted
    until(lambda: len(told.outcomes) == 2)
    newest.request_stop()
    newest.join(PATIENCE_S)


def test_while_the_card_stalls_only_the_newest_waits_and_nobody_else_does(tmp_path: Path) -> None:
    told, file = Told(stalls=True), tmp_path / "file"
    newest = BackgroundFileWriter("file", partial(write_private, file), told, first=told.first)
    began_s = time.monotonic()
    for number in range(1000):
        newest.write_later(str(number).encode())
    assert time.monotonic() - began_s < 1.0
    assert not file.exists()
    told.go.set()
    until(lambda: told.outcomes)
    newest.request_stop()
    newest.join(PATIENCE_S)
    assert told.outcomes == [(b"999", "")]


def test_a_slider_is_written_at_once_and_then_once_in_a_while(tmp_path: Path) -> None:
    told, file = Told(), tmp_path / "file"
    newest = BackgroundFileWriter("file", partial(write_private, file), told, gap_s=600.0)
    newest.write_later(b"0")
    until(lambda: told.outcomes)
    for number in range(1, 100):
        newest.write_later(str(number).encode())
    newest.request_stop()  # the last one lands, whatever the gap
    newest.join(PATIENCE_S)
    assert [data for data, _ in told.outcomes] == [b"0", b"99"]
    assert file.read_bytes() == b"99"


def test_between_two_writes_of_a_slider_there_is_the_gap(tmp_path: Path) -> None:
    told = Told()
    newest = BackgroundFileWriter(
        "file", partial(write_private, tmp_path / "file"), told, gap_s=0.2
    )
    end_s = time.monotonic() + 1.0
    while time.monotonic() < end_s:
        newest.write_later(str(time.monotonic()).encode())
        time.sleep(0.005)
    newest.request_stop()
    newest.join(PATIENCE_S)
    assert 2 <= len(told.outcomes) <= 7


def test_a_disk_that_fails_is_told_of_and_what_it_has_stays_whole(tmp_path: Path) -> None:
    told, folder = Told(), tmp_path / "folder"
    folder.write_text("a file in the folder's place")
    newest = BackgroundFileWriter("file", partial(write_private, folder / "file"), told)
    newest.write_later(b"one")
    until(lambda: told.outcomes)
    assert told.outcomes[0][1]
    folder.unlink()
    newest.write_later(b"two")
    until(lambda: told.outcomes[-1] == (b"two", ""))
    newest.request_stop()
    newest.join(PATIENCE_S)
    assert (folder / "file").read_bytes() == b"two"


def test_a_write_that_failed_is_not_tried_without_end_at_the_stop(tmp_path: Path) -> None:
    told, folder = Told(), tmp_path / "folder"
    folder.touch()
    newest = BackgroundFileWriter("file", partial(write_private, folder / "file"), told)
    newest.write_later(b"one")
    until(lambda: told.outcomes)
    newest.request_stop()
    newest.join(PATIENCE_S)
    assert len(told.outcomes) == 1


def test_what_is_written_may_be_made_in_the_thread_and_its_own_sentence_is_told() -> None:
    made: list[str] = []

    def make(number: int) -> None:
        made.append(threading.current_thread().name)
        if number:
            raise StorageError(f"number {number} cannot be written.", "Is the disk full?")

    outcomes: list[tuple[int, str]] = []
    newest = BackgroundFileWriter("numbers", make, lambda n, problem: outcomes.append((n, problem)))
    newest.write_later(0)
    until(lambda: outcomes == [(0, "")])
    newest.write_later(7)
    until(lambda: len(outcomes) == 2)
    newest.request_stop()
    newest.join(PATIENCE_S)
    assert outcomes[1] == (7, "number 7 cannot be written. Is the disk full?")
    assert made == ["numbers", "numbers"]
