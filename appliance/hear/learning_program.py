"""The listener's end of the program that learns an owner's voice (bargein/enrolment_program.py).

In: takes. Out: replies, when they are there. Nobody waits: a thread with normal scheduling starts
the program, writes to it and reads from it.
"""

from __future__ import annotations

import contextlib
import logging
import os
import subprocess
import sys
import threading
from queue import Empty, SimpleQueue

import msgspec

from appliance.messages.enrolling import WORDS, AskTake
from appliance.pcm import Samples
from appliance.settings import HearingSettings

# A string, as in the process table: what it imports is not for this process.
PROGRAM = (sys.executable, "-m", "appliance.hear.bargein.enrolment_program")

log = logging.getLogger("listener")


class ProgramReply(msgspec.Struct, frozen=True):
    """A line of the program: TakeScored, LearningEnds, or, with neither, that it has ended."""

    type: str = ""
    take: int = 0
    fault: str | None = None
    outcome: str = "failed"
    before: float = 0.0
    after: float = 0.0
    worst: int = 0


class LearningProgram:
    """One run of it. Every request has one reply; the last is that it has ended."""

    def __init__(self, hearing: HearingSettings, state: str) -> None:
        begins = {"type": "LearningBegins", "hearing": hearing, "state": state}
        self._first = msgspec.json.encode(begins) + b"\n"
        self._requests: SimpleQueue[bytes | None] = SimpleQueue()
        self._replies: SimpleQueue[ProgramReply] = SimpleQueue()
        self._child: subprocess.Popen[bytes] | None = None
        self._ended = False
        threading.Thread(target=self._run, name="enrolment", daemon=True).start()

    def judge(self, asked: AskTake, samples: Samples) -> None:
        """Whether this take is of use."""
        head = {
            "type": "TakeComes", "take": asked.take, "kind": WORDS[asked.word],
            "frames": len(samples),
        }  # fmt: skip
        self._requests.put(msgspec.json.encode(head) + b"\n" + samples.tobytes())

    def learn(self) -> None:
        """There are no more takes."""
        self._requests.put(b'{"type":"AllTold"}\n')

    def pop_reply(self) -> ProgramReply | None:
        try:
            return self._replies.get_nowait()
        except Empty:
            return None

    def end(self) -> None:
        """Nothing of it is wanted any more. Does not wait."""
        self._ended = True
        self._requests.put(None)
        if (child := self._child) is not None:
            child.kill()

    def _run(self) -> None:
        # What is started here inherits this thread's scheduling, which must not be the audio's.
        os.sched_setscheduler(threading.get_native_id(), os.SCHED_OTHER, os.sched_param(0))
        try:
            self._child = child = subprocess.Popen(
                PROGRAM, stdin=subprocess.PIPE, stdout=subprocess.PIPE
            )
        except OSError as error:
            log.warning("the program that learns cannot be started (%s)", error.strerror)
            self._replies.put(ProgramReply())
            return
        if self._ended:
            child.kill()
        try:
            self._talk(child)
        except (OSError, msgspec.DecodeError) as error:
            log.info("the program that learns has ended (%s)", error)
        finally:
            self._replies.put(ProgramReply())
            child.kill()
            with contextlib.suppress(OSError):
                child.communicate()

    def _talk(self, child: subprocess.Popen[bytes]) -> None:
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.write(self._first)
        while not self._ended and (request := self._requests.get()) is not None:
            child.stdin.write(request)
            child.stdin.flush()
            line = child.stdout.readline()
            if not line:
                return
            self._replies.put(msgspec.json.decode(line, type=ProgramReply))
