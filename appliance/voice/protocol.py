"""Parses the protocol of a voice's program: bytes of its pipe in, checked answers out.

docs/voices.md describes the protocol. An answer is a line of JSON; one of kind `sound` is followed
by its samples, as 16-bit signed little-endian integers.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Annotated

import msgspec
import numpy as np

from appliance.errors import VoiceError
from appliance.pcm import Samples
from appliance.voice import protocol_version

PROTOCOL = protocol_version.PROTOCOL
LINE_BYTES = 65_536  # limit of one answer without its samples
MOST_FRAMES = 48_000 * 60  # limit of one stretch of sound: a minute at the highest rate
MOST_WORDS = 1_000  # limit of one stretch
Place = Annotated[int, msgspec.Meta(ge=0, le=1 << 30)]

WordPlace = Annotated[tuple[Place, ...], msgspec.Meta(min_length=3, max_length=4)]


class EngineHello(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The program can speak now. `dbfs`: mean loudness of its speech (postprocess.rms_dbfs), if
    known."""

    voice: int
    rate_hz: Annotated[int, msgspec.Meta(ge=8_000, le=48_000)]
    dbfs: Annotated[float, msgspec.Meta(ge=-60, le=0)] | None = None


class EngineSound(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"begin": "from", "end": "to"}
):
    """A stretch of sentence `sound`: characters `begin` to `end` of its text. `words`: for each
    word its first character, the one after its last, the frame of this stretch at which it begins
    and, if known, the one at which it ends, which may be after the end of this stretch."""

    sound: Place
    frames: Annotated[int, msgspec.Meta(ge=0, le=MOST_FRAMES)]
    begin: Place = 0
    end: Place = 0
    words: Annotated[tuple[WordPlace, ...], msgspec.Meta(max_length=MOST_WORDS)] = ()


class EngineDone(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """No sound follows of sentence `done`, which was said or stopped."""

    done: Place


class EngineFailed(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Sentence `failed` cannot be said, or not to its end. `unsayable`: because of its text; then
    its first `said` characters were said."""

    failed: Place
    why: str = ""
    unsayable: bool = False
    said: Place = 0


EngineReply = EngineHello | EngineDone | EngineFailed | tuple[EngineSound, Samples]
_KINDS: dict[str, type[EngineHello | EngineSound | EngineDone | EngineFailed]] = {
    "voice": EngineHello, "sound": EngineSound, "done": EngineDone, "failed": EngineFailed,
}  # fmt: skip


def encode_say(number: int, text: str) -> bytes:
    return json.dumps({"say": number, "text": text}).encode() + b"\n"


def encode_stop(number: int) -> bytes:
    return json.dumps({"stop": number}).encode() + b"\n"


class ReplyParser:
    """Parses the stream of one program's answers. Buffers at most one incomplete answer."""

    def __init__(self) -> None:
        self._bytes = bytearray()
        self._sound: EngineSound | None = None  # an answer whose samples are not complete

    def parse(self, data: bytes) -> Iterator[EngineReply]:
        """The answers that `data` completes. Raises VoiceError for bytes that are not one."""
        self._bytes += data
        while True:
            if self._sound is not None:
                size = 2 * self._sound.frames
                if len(self._bytes) < size:
                    return
                sound, self._sound = self._sound, None
                samples = np.frombuffer(bytes(self._bytes[:size]), "<i2").astype(np.int16)
                del self._bytes[:size]
                yield sound, samples
                continue
            end = self._bytes.find(b"\n", 0, LINE_BYTES)
            if end < 0:
                if len(self._bytes) >= LINE_BYTES:
                    raise VoiceError("It does not speak the protocol of a voice.")
                return
            answer = _parsed(bytes(self._bytes[:end]))
            del self._bytes[: end + 1]
            if isinstance(answer, EngineSound):
                self._sound = answer
            else:
                yield answer


def _parsed(line: bytes) -> EngineHello | EngineSound | EngineDone | EngineFailed:
    try:
        raw = msgspec.json.decode(line)
        kind = next(_KINDS[key] for key in _KINDS if key in raw)
        return msgspec.convert(raw, kind)
    except (msgspec.DecodeError, msgspec.ValidationError, StopIteration, TypeError) as error:
        raise VoiceError("It does not speak the protocol of a voice.") from error
