"""Runs a program with its output in a log file, and shows one line of progress on the terminal."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

TAIL_LINES = 25  # last lines of the log that are shown after a failure
EVERY_S = 15.0  # between two lines of progress if the output is no terminal
_TICK_S = 0.5


class Failed(Exception):
    """A program failed; the text names it and its log."""


def took(seconds: float) -> str:
    """A duration as text: 8 s, 3 min 20 s."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def follow(
    command: Sequence[str],
    log: Path,
    progress: Callable[[str], str | None] = lambda _: None,
    *,
    cwd: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> None:
    """Run `command` and wait for its end. `progress`: returns the text to show for a line of its
    output, or None.

    Raises Failed, after printing the end of the log, if its exit code is not 0.
    """
    start = time.monotonic()
    show = _Line(start)
    with log.open("wb") as file:
        child = subprocess.Popen(
            list(command), cwd=cwd, env=environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
        assert child.stdout is not None
        try:
            rest = b""
            while True:
                ready, _, _ = select.select([child.stdout], [], [], _TICK_S)
                if ready:
                    data = os.read(child.stdout.fileno(), 65536)
                    if not data:
                        break
                    file.write(data)
                    *lines, rest = (rest + data).split(b"\n")
                    for line in lines:
                        show.now = progress(line.decode(errors="replace").strip()) or show.now
                show.tick()
            code = child.wait()
        except BaseException:
            os.killpg(child.pid, signal.SIGTERM)  # the group contains its compilers
            child.wait()
            raise
        finally:
            show.clear()
    if code:
        tail = log.read_text(errors="replace").splitlines()[-TAIL_LINES:]
        print("\n".join(f"   | {line}" for line in tail), file=sys.stderr)
        raise Failed(f"`{Path(command[0]).name}` exited with {code}. Its full output: {log}")


class _Line:
    """The line of progress: rewritten in place on a terminal, else a new line every EVERY_S."""

    def __init__(self, start: float) -> None:
        self.now = ""
        self._start = start
        self._last = start
        self._terminal = sys.stdout.isatty()

    def tick(self) -> None:
        now = time.monotonic()
        if now - self._last < (_TICK_S if self._terminal else EVERY_S):
            return
        self._last = now
        text = f"   {took(now - self._start)}  {self.now}"
        print(f"\r\033[K{text[:79]}" if self._terminal else text,
              end="" if self._terminal else "\n", flush=True)  # fmt: skip

    def clear(self) -> None:
        if self._terminal:
            print("\r\033[K", end="", flush=True)
