"""A supervisor in its own process, which tests kill and start again."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO

from appliance.cli import tell
from appliance.dialog import mute_store
from appliance.errors import ControlError
from appliance.messages.commands import StateChanged
from appliance.messages.registry import Message
from appliance.runtime.ipc.floor import Floor
from appliance.settings import load

PATIENCE_S = 30.0  # on a very busy machine
# Prints the floor's descriptor on the first line, then each BoxStatus sent to the part `words`.
SUPERVISE = """
import signal, sys
from pathlib import Path
from appliance.runtime import process_table
from appliance.messages.commands import BoxStatus
from appliance.settings import load
from appliance.runtime.supervisor import Supervisor

rows = tuple(process_table.row(name) for name in sys.argv[2:])
played = ("capture", "playback", "listener", "words", "thinker", "speaker")
supervisor = Supervisor(load(Path(sys.argv[1])), rows=rows, watchers=played)
signal.signal(signal.SIGTERM, supervisor.request_stop)
channels = {name: supervisor.channel(name) for name in played}
print(supervisor.ipc.floor_fd, flush=True)
supervisor.start()
while not supervisor.stopping:
    supervisor.run_once(0.01)
    for name, channel in channels.items():
        for message in channel.receive_all():
            if name == "words" and isinstance(message, BoxStatus):
                print(message.mode, message.volume, message.muted, message.storage, flush=True)
supervisor.stop_all()
"""


class Life:
    """A supervisor in its own process, with a conductor; `kill` ends it with all its parts.

    `status`: mode, volume, mute and storage problem of the last BoxStatus, as printed words.
    """

    def __init__(self, folder: Path, *parts: str, **settings: object) -> None:
        self.folder = folder
        self._parts = parts or ("conductor",)
        self.status: list[str] = []
        self._environment = {**os.environ, "RUNTIME_DIRECTORY": str(folder / "run")}
        (folder / "run").mkdir()
        self.write(settings)
        self.start()

    def write(self, settings: dict[str, object]) -> None:
        """Write the settings file."""
        file = self.folder / "settings.yaml"
        file.write_text(json.dumps({"state_dir": str(self.folder / "state"), **settings}))
        self.settings = load(file)

    def start(self) -> None:
        file = str(self.folder / "settings.yaml")
        self.child = subprocess.Popen(
            [sys.executable, "-c", SUPERVISE, file, *self._parts],
            env=self._environment, stdout=subprocess.PIPE, text=True, start_new_session=True,
        )  # fmt: skip
        assert self.child.stdout is not None
        self.floor_fd = int(self.child.stdout.readline())
        self.status.clear()
        threading.Thread(target=self._read_status, args=(self.child.stdout,), daemon=True).start()

    def _read_status(self, lines: IO[str]) -> None:
        for line in lines:
            self.status[:] = line.split()

    def processes(self) -> dict[str, int]:
        """Process title → process id, of the supervisor, the launcher and the parts."""
        found = {}
        for path in Path("/proc").glob("[0-9]*"):
            try:
                session = int((path / "stat").read_text().rpartition(")")[2].split()[3])
                title = (path / "cmdline").read_bytes().split(b"\0")[0].decode()
            except OSError:
                continue
            if session == self.child.pid:
                found[title] = int(path.name)
        return found

    def pid(self, part: str) -> int:
        """Wait for the process of this part and return its process id."""
        found = 0

        def look() -> int:
            nonlocal found
            found = self.processes().get(f"interlude: {part}", 0)
            return found

        self.until(look)
        return found

    def floor(self) -> Floor:
        """Map the floor through the supervisor's descriptor, as every part does."""
        fd = os.open(f"/proc/{self.child.pid}/fd/{self.floor_fd}", os.O_RDWR)
        try:
            return Floor(fd)  # the mapping outlives the descriptor
        finally:
            os.close(fd)

    def microphone_off(self) -> bool:
        """Read the flag that capture reads."""
        return self.floor().microphone_off

    def tell(self, *messages: Message) -> StateChanged:
        """Send commands through the control socket, as the command line does."""
        end_s = time.monotonic() + PATIENCE_S
        for message in messages:
            while True:
                try:
                    state = tell.send_command(self.settings, message)
                    break
                except ControlError:
                    assert time.monotonic() < end_s
                    time.sleep(0.02)
        return state

    def until(self, condition: Callable[[], object]) -> None:
        end_s = time.monotonic() + PATIENCE_S
        while not condition():
            assert time.monotonic() < end_s, "the condition did not become true in time"
            time.sleep(0.01)

    def stored_on_disk(self, *, muted: bool) -> bool:
        found = mute_store.read_file(mute_store.path(self.settings))
        return found is not None and found.muted == muted

    def kill(self) -> None:
        """Kill the supervisor and all its parts with SIGKILL."""
        processes = self.processes().values()
        self.child.kill()
        for pid in processes:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.child.wait()
        self.until(lambda: all(_ended(pid) for pid in processes))

    def stop(self) -> None:
        self.child.terminate()
        self.child.wait(PATIENCE_S)


def _ended(pid: int) -> bool:
    """Whether the process has ended; a zombie that is not reaped yet counts as ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True
