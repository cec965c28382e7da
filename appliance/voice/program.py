"""Runs a voice as a child process: starts it, sends it sentences, and restarts it if it fails.

In: sentences. Out: their sound at the box's rate and loudness. The child runs in a sandbox
(confine.py) and answers over a pipe (protocol.py); no call here blocks on it. If it ends, hangs or
breaks the protocol, its sentence fails, and it is restarted after a growing back-off.
"""

from __future__ import annotations

import logging
import os
import select
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Sequence

import numpy as np

from appliance.errors import UnsayableText, VoiceError
from appliance.messages.speech import SentenceTokens
from appliance.pcm import EMPTY, Samples, to_float
from appliance.runtime.supervision.backoff import LONGEST_S, BackOff
from appliance.runtime.supervision.process_limits import UNTOUCHED_MIB
from appliance.voice import protocol
from appliance.voice.child_pipes import pipes_of, read_available
from appliance.voice.interface import Speech
from appliance.voice.postprocess import SpeechPostprocessor, gain_for, rms_dbfs
from appliance.voice.spoken_words import SpeechMarks, SpokenWord

# RLIMIT_DATA of the program, without memory that is allocated and never touched (UNTOUCHED_MIB).
# Piper with a voice of `medium` quality has 250 MiB resident after a long sentence (x86-64).
MEMORY_MIB = 400
# Timeout from its start until it can speak: it imports and loads from an SD card. At a load average
# of 25 hibari took over a minute. espeak-ng speaks meanwhile; a kill would lose the work so far.
START_S = 180.0
HUNG_S = 20.0  # timeout of a sentence without any sound
STOP_S = 2.0  # timeout of its reply to a stop; it takes 50 ms where nothing else runs
_STDERR_BYTES = 500
_REAP_S = 0.02  # for its exit: its pipe is closed already

log = logging.getLogger("speaker")


class ProgramVoice:
    """The voice `name`, which the program `command` speaks."""

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        *,
        memory_mib: int = MEMORY_MIB + UNTOUCHED_MIB,
        fds: Sequence[int] = (),
        now_s: Callable[[], float] = time.monotonic,
    ) -> None:
        """Start the program, without waiting until it is ready. It inherits `fds`."""
        self.name = name
        self.problem = ""  # why it is not running, while it is not; for the log
        self.command = tuple(command)
        self._command_line = (
            sys.executable, "-m", "appliance.voice.confine", str(os.getpid()), str(memory_mib),
            *command,
        )  # fmt: skip
        self._now_s, self._fds = now_s, fds
        self._backoff = BackOff(LONGEST_S)
        self._epoll = select.epoll()  # one descriptor for poll(2) that outlives each child
        self._child: subprocess.Popen[bytes] | None = None
        self._dying: list[subprocess.Popen[bytes]] = []
        self._parser = protocol.ReplyParser()
        self._stderr_tail = b""  # the last bytes of its stderr
        self._hello: protocol.EngineHello | None = None
        self._speech: ProgramSpeech | None = None
        self._stopped: dict[int, float] = {}  # sentence → when the stop was sent
        self._number = 0
        self._start_at_s = self._started_s = now_s()
        self.poll()

    @property
    def ready(self) -> bool:
        """Whether it can start a sentence now."""
        return self._child is not None and self._hello is not None

    @property
    def _running(self) -> bool:
        return self._child is not None

    @property
    def pid(self) -> int | None:
        return self._child.pid if self._child is not None else None

    def fileno(self) -> int:
        """Readable when `poll`, or `read` of its sentence, has something to do."""
        return self._epoll.fileno()

    def synthesise(self, text: str, tokens: SentenceTokens | None = None) -> Speech:
        if self._child is None or self._hello is None:
            raise VoiceError(f"The voice {self.name} cannot speak now.", self.problem)
        self._number += 1
        postprocessor = SpeechPostprocessor(self._hello.rate_hz)
        speech = ProgramSpeech(self, self._number, self._hello, postprocessor, self._now_s())
        if not self._write(self._order(self._number, text, tokens)):
            raise VoiceError(self.problem)
        self._speech = speech
        return speech

    def _order(self, number: int, text: str, tokens: SentenceTokens | None) -> bytes:
        """The line that requests a sentence from the program."""
        return protocol.encode_say(number, text)

    def poll(self) -> None:
        """Start the program when that is due, read its replies, and check its timeouts. To be
        called regularly. Never waits."""
        self._dying = [child for child in self._dying if child.poll() is None]
        now_s = self._now_s()
        if self._child is None:
            if now_s >= self._start_at_s:
                self._start()
            return
        if self._speech is None:
            self.read_pipe()  # may end the child
        if not self._running:
            return
        if self._hello is None and now_s - self._started_s > START_S:
            self.fail(f"it could not speak after {START_S:.0f} s")
        elif any(now_s - stopped_s > STOP_S for stopped_s in self._stopped.values()):
            self.fail("it did not stop")

    def close(self) -> None:
        self._speech = None  # its `cancel`, if called later, then does nothing
        self._end()
        for child in self._dying:
            child.wait()
        self._dying = []
        self._epoll.close()

    def _start(self) -> None:
        self._started_s = self._now_s()
        self._backoff.started(self._started_s)
        try:
            child = subprocess.Popen(
                self._command_line,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,  # for the log
                bufsize=0,
                pass_fds=self._fds,
            )
        except OSError as error:
            self.fail(f"it cannot be started ({error.strerror})")
            return
        pipes = pipes_of(child)
        for pipe in pipes:
            os.set_blocking(pipe.fileno(), False)
        self._epoll.register(pipes[1].fileno(), select.EPOLLIN)
        self._child, self._parser, self._stderr_tail = child, protocol.ReplyParser(), b""

    def fail(self, why: str) -> None:
        """Kill the program, fail its sentence, and schedule the restart."""
        newly_failed = self.ready or not self._backoff.struck
        speech, self._speech = self._speech, None
        self._end()
        pause_s = self._backoff.ended(self._now_s())
        self._start_at_s = self._now_s() + pause_s
        self.problem = f"The voice {self.name} failed: {why}."
        if speech is not None:
            speech.problem = self.problem
        elif newly_failed:
            log.warning("%s It is started again.", self.problem)

    def _end(self) -> None:
        child, self._child = self._child, None
        self._hello = None
        self._stopped.clear()
        if child is None:
            return
        pipes = pipes_of(child)
        self._epoll.unregister(pipes[1].fileno())
        child.kill()
        for pipe in pipes:
            pipe.close()
        self._dying.append(child)

    def _write(self, line: bytes) -> bool:
        """Send a line; returns whether the pipe took it. A pipe holds many sentences, so a full one
        means that the program does not read."""
        assert self._child is not None
        try:
            written = os.write(pipes_of(self._child)[0].fileno(), line)
        except OSError:
            written = 0
        if written < len(line):
            self.fail("it does not read")
            return False
        return True

    def read_pipe(self) -> None:
        """Read the pipe once, and handle the replies."""
        if self._child is None:
            return
        _, stdout, stderr = pipes_of(self._child)
        self._stderr_tail = (self._stderr_tail + (read_available(stderr) or b""))[-_STDERR_BYTES:]
        data = read_available(stdout)
        if data is None:
            return
        if not data:
            self.fail(self._exit_reason())
            return
        try:
            for answer in self._parser.parse(data):
                self._handle(answer)
        except VoiceError as error:
            self.fail(error.problem.rstrip(".")[:1].lower() + error.problem.rstrip(".")[1:])

    def _exit_reason(self) -> str:
        assert self._child is not None
        try:
            code = f" with code {self._child.wait(_REAP_S)}"
        except subprocess.TimeoutExpired:
            code = ""  # it has closed its pipe but has not exited
        last_line = _one_line(
            self._stderr_tail.decode(errors="replace").strip().rpartition("\n")[2]
        )
        return f"it ended{code}" + (f" ({last_line})" if last_line else "")

    def _handle(self, answer: protocol.EngineReply) -> None:
        speech = self._speech
        match answer:
            case protocol.EngineHello(voice):
                if voice != protocol.PROTOCOL:
                    raise VoiceError(f"It speaks protocol {voice} and not {protocol.PROTOCOL}.")
                self._hello, self.problem = answer, ""
                self._backoff.up(self._now_s())
            case protocol.EngineDone(number):
                self._end_sentence(number, "")
            case protocol.EngineFailed(number, why, unsayable, said):
                failed = "cannot say a sentence" if unsayable else "failed"
                problem = f"The voice {self.name} {failed}: {_one_line(why)}."
                self._end_sentence(number, problem, said if unsayable else None)
            case (sound, samples):
                if speech is not None and speech.number == sound.sound:
                    speech.push_sound(sound, samples)

    def _end_sentence(self, number: int, problem: str, said: int | None = None) -> None:
        self._stopped.pop(number, None)
        speech = self._speech
        if speech is not None and speech.number == number:
            self._speech = None
            speech.end(problem, said)

    def cancel(self, speech: ProgramSpeech) -> None:
        """Stop the work on a sentence; further sound of it is dropped."""
        if self._speech is not speech:
            return
        self._speech = None
        self._stopped[speech.number] = self._now_s()
        self._write(protocol.encode_stop(speech.number))


class ProgramSpeech:
    """A sentence that a program is synthesising."""

    def __init__(
        self,
        program: ProgramVoice,
        number: int,
        hello: protocol.EngineHello,
        postprocessor: SpeechPostprocessor,
        now_s: float,
    ) -> None:
        self.number = number
        self.problem = ""
        self._marks = SpeechMarks(hello.rate_hz)
        self._program = program
        self._hello = hello
        self._postprocessor = postprocessor
        self._last_sound_s = now_s
        self._made: deque[Samples] = deque()
        self._ended = False
        self._said: int | None = None

    def fileno(self) -> int:
        return self._program.fileno()

    def read(self) -> Samples | None:
        if not self._made and not self._ended and not self.problem:
            self._program.read_pipe()
            if not self._made and self._program._now_s() - self._last_sound_s > HUNG_S:
                self._program.fail(f"no sound came for {HUNG_S:.0f} s")
        if self._made:
            return self._made.popleft()
        if self.problem:
            if self._said is not None:
                raise UnsayableText(self.problem, said=self._said)
            raise VoiceError(self.problem)
        return None if self._ended else EMPTY

    def cancel(self) -> None:
        self._program.cancel(self)

    def push_sound(self, sound: protocol.EngineSound, samples: Samples) -> None:
        """Called by the ProgramVoice: take a stretch of sound. Its gain follows from the loudness
        that the program has reported, or else from the loudness of the stretch."""
        self._last_sound_s = self._program._now_s()
        pcm = to_float(samples)
        loudness = self._hello.dbfs
        if loudness is None:
            loudness = rms_dbfs(pcm, self._hello.rate_hz) if len(pcm) else -np.inf
        self._append(self._postprocessor.process(pcm, gain_for(loudness)))
        self._marks.add(sound)

    @property
    def words(self) -> list[SpokenWord]:
        return self._marks.words(self._postprocessor.dropped)

    @property
    def parts(self) -> list[SpokenWord]:
        """The stretches that it came in, for which the program has reported their text."""
        return self._marks.parts(self._postprocessor.dropped)

    def end(self, problem: str, said: int | None = None) -> None:
        """Called by the ProgramVoice: no sound follows. `said`: for a text that it cannot say, how
        many of its characters were said."""
        self.problem, self._ended, self._said = problem, not problem, said
        if not problem:
            self._append(self._postprocessor.process(np.empty(0, np.float32), last=True))

    def _append(self, samples: Samples) -> None:
        if len(samples):
            self._made.append(samples)


def _one_line(text: str) -> str:
    """Text of another program, cleaned for one line of the log."""
    return "".join(char if char.isprintable() else " " for char in text[:200]).strip(" .")
