"""Client of the program that learns an owner's voice (bargein/enrolment_program.py).

In: takes. Out: replies, once they have arrived. No call blocks: a thread with normal scheduling
starts the program, writes to it and reads from it.
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

from appliance.hear.bargein.enrolment_lines import (
    AllTold,
    LearningBegins,
    LearningEnds,
    ProgramReply,
    TakeComes,
    encode,
)
from appliance.messages.enrolling import WORDS, AskTake
from appliance.pcm import Samples
from appliance.settings import HearingSettings

# A module name, as in the process table, so that this process does not import what it imports.
PROGRAM = (sys.executable, "-m", "appliance.hear.bargein.enrolment_program")

log = logging.getLogger("listener")


class LearningProgram:
    """One run of the program: one reply per request, then a final LearningEnds(failed)."""

    def __init__(self, hearing: HearingSettings, state: str) -> None:
        self._first_line = encode(LearningBegins(hearing, state))
        self._requests: SimpleQueue[bytes | None] = SimpleQueue()
        self._replies: SimpleQueue[ProgramReply] = SimpleQueue()
        self._child: subprocess.Popen[bytes] | None = None
        self._stopping = False
        threading.Thread(target=self._run, name="enrolment", daemon=True).start()

    def judge(self, request: AskTake, samples: Samples) -> None:
        """Request the check of a take; the reply is a TakeScored."""
        header = TakeComes(request.take, WORDS[request.word], len(samples))
        self._requests.put(encode(header) + samples.tobytes())

    def learn(self) -> None:
        """Request learning from all takes; the reply is a LearningEnds."""
        self._requests.put(encode(AllTold()))

    def pop_reply(self) -> ProgramReply | None:
        try:
            return self._replies.get_nowait()
        except Empty:
            return None

    def end(self) -> None:
        """Kill the program, without waiting for its end."""
        self._stopping = True
        self._requests.put(None)
        if (child := self._child) is not None:
            child.kill()

    def _run(self) -> None:
        # The child inherits this thread's scheduling, which must not be that of the audio path.
        os.sched_setscheduler(threading.get_native_id(), os.SCHED_OTHER, os.sched_param(0))
        try:
            self._child = child = subprocess.Popen(
                PROGRAM, stdin=subprocess.PIPE, stdout=subprocess.PIPE
            )
        except OSError as error:
            log.warning("the enrolment program cannot be started (%s)", error.strerror)
            self._replies.put(LearningEnds("failed"))
            return
        if self._stopping:
            child.kill()
        try:
            self._exchange(child)
        except (OSError, msgspec.DecodeError) as error:
            log.info("the enrolment program has ended (%s)", error)
        finally:
            self._replies.put(LearningEnds("failed"))
            child.kill()
            with contextlib.suppress(OSError):
                child.communicate()

    def _exchange(self, child: subprocess.Popen[bytes]) -> None:
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.write(self._first_line)
        while not self._stopping and (request := self._requests.get()) is not None:
            child.stdin.write(request)
            child.stdin.flush()
            line = child.stdout.readline()
            if not line:
                return
            self._replies.put(msgspec.json.decode(line, type=ProgramReply))
