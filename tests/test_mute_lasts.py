"""Mute, mode, volume and voice outlive what a box may go through: real processes, killed."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

import pytest

from appliance import mute
from appliance.errors import ControlError
from appliance.ipc.floor import Floor
from appliance.messages import Mute, SetMode, SetVolume, StateChanged
from appliance.settings import adjusted, load
from appliance.verbs import tell

PATIENCE_S = 30.0  # on a very busy machine
# The floor's descriptor on the first line, then each Standing that a recogniser of words is told.
SUPERVISE = """
import signal, sys
from pathlib import Path
from appliance import processes
from appliance.messages import Standing
from appliance.settings import load
from appliance.supervisor import Supervisor

rows = tuple(processes.row(name) for name in sys.argv[2:])
played = ("capture", "playback", "listener", "words", "thinker", "speaker")
supervisor = Supervisor(load(Path(sys.argv[1])), rows=rows, watchers=played)
signal.signal(signal.SIGTERM, supervisor.request_stop)
channels = {name: supervisor.channel(name) for name in played}
print(supervisor.floor_fd, flush=True)
supervisor.start()
while not supervisor.stopping:
    supervisor.step(0.01)
    for name, channel in channels.items():
        for message in channel.receive_all():
            if name == "words" and isinstance(message, Standing):
                print(message.mode, message.volume, message.muted, message.storage, flush=True)
supervisor.stop_all()
"""


class Life:
    """A supervisor in a process of its own, with a conductor; it can be killed as a whole.

    `stands`: what was told last of mode, volume, mute, and of a disk that fails.
    """

    def __init__(self, folder: Path, *parts: str, **settings: object) -> None:
        self.folder = folder
        self._parts = parts or ("conductor",)
        self.stands: list[str] = []
        self._environment = {**os.environ, "RUNTIME_DIRECTORY": str(folder / "run")}
        (folder / "run").mkdir()
        self.write(settings)
        self.start()

    def write(self, settings: dict[str, object]) -> None:
        """The owner's settings file."""
        file = self.folder / "settings.yaml"
        file.write_text(json.dumps({"state_dir": str(self.folder / "state"), **settings}))
        self.settings = load(file)

    def start(self) -> None:
        file = str(self.folder / "settings.yaml")
        self.child = subprocess.Popen(
            [sys.executable, "-c", SUPERVISE, file, *self._parts],
            env=self._environment, stdout=subprocess.PIPE, text=True, process_group=0,
        )  # fmt: skip
        assert self.child.stdout is not None
        self.floor_fd = int(self.child.stdout.readline())
        self.stands.clear()
        threading.Thread(target=self._hear, args=(self.child.stdout,), daemon=True).start()

    def _hear(self, lines: IO[str]) -> None:
        for line in lines:
            self.stands[:] = line.split()

    def children(self) -> dict[str, int]:
        """Title → process id."""
        found = {}
        for path in Path("/proc").glob("[0-9]*"):
            try:
                parent = int((path / "stat").read_text().rpartition(")")[2].split()[1])
                title = (path / "cmdline").read_bytes().split(b"\0")[0].decode()
            except OSError:
                continue
            if parent == self.child.pid:
                found[title] = int(path.name)
        return found

    def pid(self, part: str) -> int:
        """Of the process of that name, once it is there."""
        found = 0

        def look() -> int:
            nonlocal found
            found = self.children().get(f"interlude: {part}", 0)
            return found

        self.until(look)
        return found

    def deaf(self) -> bool:
        """As capture would see it: the floor's words, through the supervisor's descriptor."""
        fd = os.open(f"/proc/{self.child.pid}/fd/{self.floor_fd}", os.O_RDWR)
        try:
            return Floor(fd).deaf
        finally:
            os.close(fd)

    def tell(self, *messages: Mute | SetMode | SetVolume) -> StateChanged:
        """As a shell would."""
        end_s = time.monotonic() + PATIENCE_S
        for message in messages:
            while True:
                try:
                    state = tell.send(self.settings, message)
                    break
                except ControlError:
                    assert time.monotonic() < end_s
                    time.sleep(0.02)
        return state

    def until(self, true: Callable[[], object]) -> None:
        end_s = time.monotonic() + PATIENCE_S
        while not true():
            assert time.monotonic() < end_s, "it never came"
            time.sleep(0.01)

    def kept(self, *, muted: bool) -> bool:
        found = mute.read(mute.path(self.settings))
        return found is not None and found.muted == muted

    def kill(self) -> None:
        """With all its parts, and no time to say anything."""
        children = self.children().values()
        self.child.kill()
        for pid in children:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.child.wait()
        self.until(lambda: all(_ended(pid) for pid in children))

    def stop(self) -> None:
        self.child.terminate()
        self.child.wait(PATIENCE_S)


def _ended(pid: int) -> bool:
    """Or a zombie that nobody has collected yet."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


@pytest.fixture
def life(tmp_path: Path) -> Iterator[Life]:
    made = Life(tmp_path)
    yield made
    made.kill()


def test_a_kill_of_all_processes_unmutes_nothing(life: Life) -> None:
    assert life.tell(Mute(on=False)).state == "idle"
    assert not life.deaf()
    assert life.tell(Mute(on=True)).state == "muted"
    life.kill()  # at once: the file in memory is written before the answer
    life.start()
    assert life.deaf()
    assert life.tell(SetVolume(0.5)).state == "muted"
    assert life.deaf()
    life.until(lambda: life.kept(muted=True))
    life.kill()
    (life.folder / "run" / mute.FILE).unlink()  # a power cut
    life.start()
    assert life.tell(SetVolume(0.6)).state == "muted"
    assert life.tell(Mute(on=False)).state == "idle"
    life.until(lambda: life.kept(muted=False))
    life.kill()
    life.start()
    assert life.tell(SetVolume(0.5)).state == "idle"
    assert not life.deaf()


def test_a_conductor_that_dies_unmutes_nothing(life: Life) -> None:
    life.tell(Mute(on=True))
    before = life.pid("conductor")
    os.kill(before, signal.SIGKILL)
    life.until(lambda: life.deaf() and life.pid("conductor") != before)
    assert life.tell(SetVolume(0.5)).state == "muted"
    assert life.deaf()


def test_what_was_set_is_so_after_a_kill(life: Life) -> None:
    life.tell(SetVolume(0.43), SetMode("wake_word"))
    life.until(lambda: adjusted.adjusted(life.settings).speaking.volume == 0.43)
    life.until(lambda: adjusted.adjusted(life.settings).mode == "wake_word")
    life.kill()
    life.start()
    life.until(lambda: life.stands[:2] == ["wake_word", "0.43"])


def test_the_last_of_a_dragged_slider_is_there_after_a_stop(life: Life) -> None:
    for percent in range(30, 80):
        life.tell(SetVolume(percent / 100))
    life.stop()
    assert adjusted.adjusted(life.settings).speaking.volume == 0.79
    life.start()
    life.until(lambda: life.stands[:2] == ["open", "0.79"])


def test_an_owner_who_edits_the_file_has_the_last_word(life: Life) -> None:
    life.tell(SetVolume(0.43), SetMode("wake_word"))
    life.stop()
    life.write({"speaking": {"volume": 0.6}})
    life.start()
    life.until(lambda: life.stands[:2] == ["wake_word", "0.6"])
    life.tell(SetMode("push_to_talk"))
    life.stop()
    life.write({})  # what the file has overruled does not come back with what it said before
    life.start()
    life.until(lambda: life.stands[:2] == ["push_to_talk", "0.8"])


def test_a_conductor_that_dies_goes_on_with_what_was_set(life: Life) -> None:
    life.tell(SetVolume(0.43), SetMode("wake_word"))
    life.until(lambda: adjusted.adjusted(life.settings).mode == "wake_word")
    before = life.pid("conductor")
    life.stands.clear()
    os.kill(before, signal.SIGKILL)
    life.until(lambda: life.stands[:2] == ["wake_word", "0.43"])


@pytest.mark.parametrize("file", [mute.FILE, adjusted.FILE])
def test_damaged_files_stop_no_box_and_open_no_microphone(life: Life, file: str) -> None:
    life.until(lambda: life.stands)
    life.stop()
    (life.folder / "state" / file).write_bytes(b"\x00{")
    life.start()
    life.until(lambda: life.stands[:2] == ["open", "0.8"])
    assert life.deaf() == (file == mute.FILE)
    life.tell(Mute(on=False), SetVolume(0.3))
    assert not life.deaf()
    life.stop()
    life.start()
    life.until(lambda: life.stands[:3] == ["open", "0.3", "False"])
    assert not life.deaf()


def test_a_card_that_cannot_be_written_is_a_problem_until_it_can(life: Life) -> None:
    life.until(lambda: life.stands[3:] == ["False"])
    blocked = life.folder / "state" / f".{mute.FILE}.new"
    blocked.mkdir()
    life.tell(Mute(on=True))
    life.until(lambda: life.stands[2:] == ["True", "True"])
    life.kill()
    life.start()  # what is in memory says it
    life.until(lambda: life.stands[2:3] == ["True"])
    assert life.deaf()
    blocked.rmdir()
    life.tell(Mute(on=False))
    life.until(lambda: life.stands[2:] == ["False", "False"])
