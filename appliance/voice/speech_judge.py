"""The speaker's side of judge_program.py: sounds and their texts in, verdicts out. Never waits.

It judges one sound at a time; a sound that comes meanwhile is not judged. Without a recogniser on
this box, or after its program has ended, no sound is judged.
"""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import msgspec

from appliance.pcm import Samples
from appliance.runtime.supervision.process_limits import UNTOUCHED_MIB
from appliance.voice.child_pipes import pipes_of, read_available

PROGRAM = Path(__file__).with_name("judge_program.py")
MEMORY_MIB = 200 + UNTOUCHED_MIB
# A lower fit means another text, or no speech: of 64 sentences of the head the worst has -5.6; with
# another text the best has -8.6 (training/speech_head/judged.py).
LEAST_FIT = -6.0
HUNG_S = 10.0  # timeout of a verdict

log = logging.getLogger("speaker")
Verdict = Callable[[bool], object]


class _Reply(msgspec.Struct, frozen=True):
    ready: int = 0
    judged: int = 0
    fit: float | None = None


def recogniser_here() -> bool:
    return find_spec("pocketsphinx") is not None


class SpeechJudge:
    """Runs `program` in the sandbox of the voices' programs (confine.py)."""

    def __init__(
        self, program: Path = PROGRAM, now_s: Callable[[], float] = time.monotonic
    ) -> None:
        command_line = (
            sys.executable, "-m", "appliance.voice.confine", str(os.getpid()), str(MEMORY_MIB),
            sys.executable, str(program),
        )  # fmt: skip
        self._now_s, self._ordered_s = now_s, 0.0
        self._child: subprocess.Popen[bytes] | None = None
        self._ready = False
        self._number = 0
        self._verdict: Verdict | None = None  # callback of the sound that is being judged
        self._unsent = b""  # bytes for which its pipe has no room yet
        self._line = b""
        try:
            self._child = subprocess.Popen(
                command_line,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
            )
        except OSError as error:
            log.warning("the check of the voice's sound cannot be started (%s)", error.strerror)
            return
        for pipe in pipes_of(self._child):
            os.set_blocking(pipe.fileno(), False)

    @property
    def pid(self) -> int | None:
        return self._child.pid if self._child is not None else None

    @property
    def ready(self) -> bool:
        """Whether it can take a sound now."""
        return self._ready and self._verdict is None

    def judge(self, words: list[str], sound: Samples, verdict: Verdict) -> None:
        """Judge a sound; it must be `ready`. `poll` calls `verdict` with whether the sound says
        these words, or with True if that cannot be judged."""
        self._number += 1
        self._verdict, self._ordered_s = verdict, self._now_s()
        order = {"judge": self._number, "words": words, "samples": len(sound)}
        self._unsent = json.dumps(order).encode() + b"\n" + sound.astype("<i2").tobytes()
        self.poll()

    def poll(self) -> None:
        """Write to the program, read its replies, check the timeout. To be called often while it
        judges."""
        if self._child is None:
            return
        stdin, stdout, stderr = pipes_of(self._child)
        read_available(stderr)
        try:
            while self._unsent:
                self._unsent = self._unsent[os.write(stdin.fileno(), self._unsent) :]
        except BlockingIOError:
            pass
        except OSError:
            self._end("its program does not read")
            return
        data = read_available(stdout)
        if data == b"":
            self._end("its program ended")
        elif data is not None:
            *lines, self._line = (self._line + data).split(b"\n")
            for line in lines:
                self._read(line)
        if self._verdict is not None and self._now_s() - self._ordered_s > HUNG_S:
            self._end(f"no verdict came for {HUNG_S:.0f} s")

    def close(self) -> None:
        child, self._child = self._child, None
        self._ready, self._verdict, self._unsent = False, None, b""
        if child is None:
            return
        child.kill()
        for pipe in pipes_of(child):
            pipe.close()
        child.wait()

    def _read(self, line: bytes) -> None:
        try:
            reply = msgspec.json.decode(line, type=_Reply)
        except msgspec.DecodeError:
            self._end("its program does not speak the protocol")
            return
        self._ready = self._ready or bool(reply.ready)
        if reply.judged == self._number and self._verdict is not None:
            verdict, self._verdict = self._verdict, None
            verdict(reply.fit is None or reply.fit >= LEAST_FIT)

    def _end(self, why: str) -> None:
        verdict = self._verdict
        self.close()
        log.warning("The voice's sound is not checked any more: %s.", why)
        if verdict is not None:
            verdict(True)
