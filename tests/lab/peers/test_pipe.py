"""The protocol: what one end writes is what the other reads, and a broken end is noticed."""

from __future__ import annotations

import io

import numpy as np
import pytest

from lab.peers import pipe
from lab.peers.pipe import Answer, Event, PipeClosed, Start, Words

BLOCK = np.arange(-40, 40).astype(np.int16) * 800


def test_a_start_arrives_with_its_sound() -> None:
    start = Start("pipecat", {"min_words": 3, "start_secs": 0.1}, 224000, 5)
    talk = np.array([1, -2, 32767, -32768, 0], np.int16)
    file = io.BytesIO()
    pipe.write_start(file, start, talk)
    file.seek(0)
    read, sound = pipe.read_start(file)
    assert read == start
    assert sound.tolist() == talk.tolist()
    assert file.read() == b""


def test_requests_arrive_in_order() -> None:
    words = Words("no, “wait”\na minute", 300000, 312345)
    file = io.BytesIO()
    pipe.write_words(file, words)
    pipe.write_block(file, BLOCK)
    file.seek(0)
    assert pipe.read_request(file) == words
    block = pipe.read_request(file)
    assert isinstance(block, np.ndarray)
    assert block.tolist() == BLOCK.tolist()
    with pytest.raises(PipeClosed):
        pipe.read_request(file)


@pytest.mark.parametrize(
    "events",
    [(), (Event(0, "stopped"),), (Event(2**40, "silent"), Event(16, "dropped"))],
)
def test_an_answer_arrives_with_its_events(events: tuple[Event, ...]) -> None:
    file = io.BytesIO()
    pipe.write_answer(file, Answer(BLOCK, audible=True, events=events))
    file.seek(0)
    answer = pipe.read_answer(file)
    assert answer.samples.tolist() == BLOCK.tolist()
    assert answer.audible
    assert answer.events == events


@pytest.mark.parametrize("size", [0, 100, 160, 162, 163])
def test_an_answer_that_breaks_off_is_noticed(size: int) -> None:
    file = io.BytesIO()
    pipe.write_answer(file, Answer(BLOCK, audible=False, events=(Event(1, "resumed"),)))
    with pytest.raises(PipeClosed):
        pipe.read_answer(io.BytesIO(file.getvalue()[:size]))


def test_a_start_that_breaks_off_is_noticed() -> None:
    with pytest.raises(PipeClosed):
        pipe.read_start(io.BytesIO(b'{"program": "pipe'))


def test_an_unknown_request_is_an_error() -> None:
    with pytest.raises(ValueError, match="is no request"):
        pipe.read_request(io.BytesIO(b"X"))
