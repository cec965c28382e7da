"""A complete box as processes of one session, and CPU load from other processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[3]
GONE_S = 2.0  # limit for all processes to end after the supervisor's death
SETTINGS = """
card: {{capture: nowhere, playback: nowhere}}
state_dir: {folder}
language: en
speaking: {{voice: espeak}}
panel: {{gpio: keyboard}}
link: {{broker: 127.0.0.1, port: 1}}
"""


class Box:
    """A complete box in a session of its own, which identifies its processes and orphans."""

    def __init__(self, folder: Path, words: list[str] | None = None, **environment: str) -> None:
        folder.mkdir()
        mine = folder / "mine.yaml"
        mine.write_text(SETTINGS.format(folder=folder))
        self.process = subprocess.Popen(
            words or [sys.executable, "-m", "appliance", "run", "--settings", str(mine)],
            cwd=ROOT, env={**os.environ, **environment}, stderr=subprocess.DEVNULL,
            start_new_session=True,
        )  # fmt: skip

    def left(self) -> list[str]:
        """Command lines of the session's live processes."""
        found = []
        for entry in Path("/proc").iterdir():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
                if int(fields[3]) == self.process.pid and fields[0] not in "ZX":
                    words = (entry / "cmdline").read_bytes().replace(b"\0", b" ")
                    found.append(words.decode(errors="replace").strip() or entry.name)
            except (OSError, IndexError):
                continue
        return found

    def until(self, true: Callable[[list[str]], bool], within_s: float) -> bool:
        """Wait until `true` holds for the live processes."""
        end = time.monotonic() + within_s
        while not (found := true(self.left())) and time.monotonic() < end:
            time.sleep(0.02)
        return found

    def kill(self) -> None:
        """Kill the supervisor only."""
        self.process.kill()
        self.process.wait()

    def clear(self) -> None:
        for entry in Path("/proc").iterdir():
            try:
                if os.getsid(int(entry.name)) == self.process.pid:
                    os.kill(int(entry.name), signal.SIGKILL)
            except (ValueError, OSError):
                continue


@contextmanager
def load_of(loops: int, core: int | None = None) -> Iterator[None]:
    """Run `loops` busy processes, on `core` or on any core."""
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(loops)]
    try:
        if core is not None:
            for process in busy:
                os.sched_setaffinity(process.pid, {core})
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()


def survivors(folder: Path, after_s: float) -> list[str]:
    """Live processes of a box whose supervisor is killed `after_s` after its start."""
    box = Box(folder)
    try:
        time.sleep(after_s)  # the test needs an arbitrary moment
        box.kill()
        return [] if box.until(lambda left: not left, GONE_S) else box.left()
    finally:
        box.clear()
