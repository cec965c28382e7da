"""The protocol of a voice's program: replies are parsed from chunks of any size."""

from __future__ import annotations

import contextlib
import json
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.errors import VoiceError
from appliance.voice.protocol import (
    LINE_BYTES,
    MOST_FRAMES,
    EngineDone,
    EngineFailed,
    EngineHello,
    EngineReply,
    EngineSound,
    ReplyParser,
    encode_say,
    encode_stop,
)

SAMPLES = np.array([0, 1, -1, 32767, -32768], np.int16)


def line(**answer: object) -> bytes:
    return json.dumps(answer).encode() + b"\n"


STREAM = (
    line(voice=1, rate_hz=22050, dbfs=-20.5)
    + line(sound=7, frames=5, **{"from": 0, "to": 12}, words=[[0, 5, 0], [6, 12, 3]])
    + SAMPLES.astype("<i2").tobytes()
    + line(sound=7, frames=0)
    + line(done=7)
    + line(failed=8, why="no such letter")
)
WHOLE: list[object] = [
    EngineHello(1, 22050, -20.5),
    (EngineSound(7, 5, 0, 12, ((0, 5, 0), (6, 12, 3))), SAMPLES.tolist()),
    (EngineSound(7, 0), []),
    EngineDone(7),
    EngineFailed(8, "no such letter"),
]


def plain(reply: EngineReply) -> object:
    return (reply[0], reply[1].tolist()) if isinstance(reply, tuple) else reply


@given(st.lists(st.integers(0, len(STREAM)), max_size=20))
def test_the_chunk_sizes_make_no_difference(cuts: list[int]) -> None:
    parser, found = ReplyParser(), []
    places = [0, *sorted(cuts), len(STREAM)]
    for begin, end in pairwise(places):
        found += [plain(reply) for reply in parser.parse(STREAM[begin:end])]
    assert found == WHOLE


@pytest.mark.parametrize(
    "data",
    [
        b"\n", b"hello\n", b"[]\n", b"1\n", b"null\n", b"\xff\n", line(), line(more=1),
        line(done=-1), line(done="1"), line(done=1, more=2), line(voice=1, rate_hz=96_000),
        line(voice=1, rate_hz=16_000, dbfs=1), line(sound=1, frames=MOST_FRAMES + 1),
        line(sound=1, frames=-1), line(sound=1), line(sound=1, frames=1, words=[[1, 2]]),
        line(sound=1, frames=1, words=[[0, 1, 2]] * 1001), b"x" * LINE_BYTES,
    ],
)  # fmt: skip
def test_an_invalid_reply_raises_voice_error(data: bytes) -> None:
    with pytest.raises(VoiceError, match="does not speak the protocol"):
        list(ReplyParser().parse(data))


@given(st.binary(max_size=300))
def test_any_bytes_are_replies_or_raise_voice_error(data: bytes) -> None:
    with contextlib.suppress(VoiceError):
        for reply in ReplyParser().parse(data):
            assert isinstance(reply, EngineHello | EngineDone | EngineFailed | tuple)


def test_the_length_of_an_incomplete_line_is_limited() -> None:
    parser = ReplyParser()
    assert list(parser.parse(b"x" * (LINE_BYTES - 1))) == []
    with pytest.raises(VoiceError):
        list(parser.parse(b"x"))


@given(st.integers(0, 1 << 30), st.text(st.characters(exclude_categories=["Cs"])))
def test_an_order_is_one_line_whatever_the_text(number: int, text: str) -> None:
    order = encode_say(number, text)
    assert order.count(b"\n") == 1
    assert json.loads(order) == {"say": number, "text": text}
    assert json.loads(encode_stop(number)) == {"stop": number}
