"""Has a voice say sentences, and times its first samples and the stop of its program."""

from __future__ import annotations

import os
import select
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from appliance.errors import VoiceError
from appliance.pcm import Samples
from appliance.voice import protocol
from appliance.voice.interface import Voice
from appliance.voice.program import HUNG_S, START_S
from appliance.voice.spoken_words import SpokenWord

_READ_BYTES = 1 << 16


@dataclass(frozen=True)
class SaidSentence:
    """A synthesised sentence. `first_ms`: from the request to the first samples. `words`: empty if
    the voice reports none."""

    sound: Samples
    words: list[SpokenWord]
    first_ms: float


def wait_until_ready(voice: Voice) -> None:
    """Wait until the voice is loaded. Raises VoiceError if it fails or exceeds `START_S`."""
    until_s = time.monotonic() + START_S
    while not voice.ready:
        if voice.problem or time.monotonic() > until_s:
            raise VoiceError(voice.problem or f"The voice {voice.name} did not become ready.")
        time.sleep(0.01)
        voice.poll()


def say(voice: Voice, text: str) -> SaidSentence:
    """Synthesise a sentence. Raises VoiceError if the voice makes no sound."""
    started_s = time.monotonic()
    speech, chunks, first_ms = voice.synthesise(text), list[Samples](), 0.0
    while (samples := speech.read()) is not None:
        if len(samples):
            first_ms = first_ms or 1000 * (time.monotonic() - started_s)
            chunks.append(samples)
        else:
            select.select([speech.fileno()], [], [], 0.1)
    if not chunks:
        raise VoiceError(f"The voice {voice.name} returned no samples for a sentence.")
    return SaidSentence(np.concatenate(chunks), list(speech.words), first_ms)


def stop_times_ms(command: Sequence[str], text: str, times: int) -> list[float]:
    """ms from a stop request at the first sound of `text` until the program `command` reports that
    the sentence is done, `times` times. Raises VoiceError if it violates the protocol."""
    times_ms = []
    with _started(command) as (requests_fd, replies):
        _wait_for(replies, protocol.EngineHello)
        for number in range(1, times + 1):
            _write(requests_fd, protocol.encode_say(number, text))
            _wait_for(replies, tuple)
            started_s = time.monotonic()
            _write(requests_fd, protocol.encode_stop(number))
            _wait_for(replies, protocol.EngineDone)
            times_ms.append(1000 * (time.monotonic() - started_s))
    return times_ms


@contextmanager
def _started(command: Sequence[str]) -> Iterator[tuple[int, Iterator[protocol.EngineReply]]]:
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL, bufsize=0)  # fmt: skip
    assert child.stdin is not None
    assert child.stdout is not None
    try:
        yield child.stdin.fileno(), _replies(child.stdout.fileno())
    finally:
        child.kill()
        child.stdin.close()
        child.stdout.close()
        child.wait()


def _replies(fd: int) -> Iterator[protocol.EngineReply]:
    parser = protocol.ReplyParser()
    while select.select([fd], [], [], max(START_S, HUNG_S))[0]:
        data = os.read(fd, _READ_BYTES)
        if not data:
            raise VoiceError("The voice's program ended.")
        yield from parser.parse(data)
    raise VoiceError("The voice's program does not answer.")


def _wait_for(replies: Iterator[protocol.EngineReply], kind: type) -> None:
    for reply in replies:
        if isinstance(reply, protocol.EngineFailed):
            raise VoiceError(f"The voice's program failed: {reply.why}.")
        if isinstance(reply, kind):
            return


def _write(fd: int, line: bytes) -> None:
    try:
        os.write(fd, line)  # a line is shorter than a pipe's buffer
    except OSError as error:
        raise VoiceError("The voice's program ended.") from error
