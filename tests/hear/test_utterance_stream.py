"""The samples of an utterance are sent once, in order, in pieces that fit the ring."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.hear.utterance_stream import CHUNK_FRAMES, SpeechSlot, UtteranceStream
from appliance.messages.hearing import SpeechEnded
from appliance.pcm import SampleBuffer
from appliance.runtime.ipc.ring import END, PAUSE, QUIET, START

FIRST = 1000  # the buffer's sample at which the utterance begins
CARD = 70_000  # the card's index of the buffer's sample 0
PIECE = 28 * 16_000

Out = list[SpeechSlot | SpeechEnded]


def buffer(frames: int) -> SampleBuffer:
    """A buffer whose samples are their own positions."""
    made = SampleBuffer(max(1, frames))
    made.write(0, np.arange(frames).astype(np.int16))
    return made


def samples(out: Out) -> list[int]:
    return [int(n) for item in out if isinstance(item, SpeechSlot) for n in item.samples]


def ends(out: Out) -> list[SpeechEnded]:
    return [item for item in out if isinstance(item, SpeechEnded)]


def expected(frames: int) -> list[int]:
    return np.arange(FIRST, FIRST + frames).astype(np.int16).tolist()


@given(st.lists(st.integers(0, 2000), max_size=12), st.booleans())
def test_every_sample_is_sent_once_and_in_order_for_any_sequence_of_steps(
    steps: list[int], pause: bool
) -> None:
    stream, out, until = UtteranceStream(7, FIRST, 1600), Out(), FIRST
    held = buffer(FIRST + sum(steps))
    for step in steps:
        until += step
        out += stream.pop_ready(held, until, CARD, pause)
    out += stream.finish(held, until, CARD, until)
    assert samples(out) == expected(until - FIRST)
    slots = [item for item in out if isinstance(item, SpeechSlot)]
    assert all(slot.index == CARD + FIRST + slot.position for slot in slots)
    assert all(bool(slot.flags & START) == (slot.position == 0) for slot in slots)
    assert [bool(slot.flags & END) for slot in slots] == [False] * (len(slots) - 1) + [True]


def test_samples_are_held_back_until_they_fill_a_slot() -> None:
    stream, held = UtteranceStream(7, FIRST, PIECE), buffer(5000)
    assert stream.pop_ready(held, FIRST + CHUNK_FRAMES - 1, CARD, quiet=False) == []
    (slot,) = stream.pop_ready(held, FIRST + CHUNK_FRAMES, CARD, quiet=False)
    assert isinstance(slot, SpeechSlot)
    assert (slot.utterance, slot.position, slot.flags) == (7, 0, START)


@pytest.mark.parametrize("quiet", [False, True])
def test_a_slot_is_flagged_quiet_while_nobody_speaks(quiet: bool) -> None:
    stream, held = UtteranceStream(7, FIRST, PIECE), buffer(5000)
    (slot,) = stream.pop_ready(held, FIRST + CHUNK_FRAMES, CARD, quiet=quiet)
    assert isinstance(slot, SpeechSlot)
    assert bool(slot.flags & QUIET) is quiet


def test_a_pause_flushes_the_remaining_samples_once_and_the_utterance_continues() -> None:
    stream, held = UtteranceStream(7, FIRST, PIECE), buffer(5000)
    (rest,) = stream.flush_pause(held, FIRST + 100, CARD)
    assert rest.flags == START | PAUSE
    assert stream.flush_pause(held, FIRST + 100, CARD) == []
    out = stream.finish(held, FIRST + 400, CARD, FIRST + 400)
    assert samples([rest, *out]) == expected(400)


@pytest.mark.parametrize(("pause", "cut_at"), [(False, PIECE), (True, PIECE - 48_000)])
def test_a_long_utterance_is_cut_at_its_piece_length_or_at_an_earlier_pause(
    pause: bool, cut_at: int
) -> None:
    stream, held = UtteranceStream(7, FIRST, PIECE), buffer(FIRST + PIECE + 5000)
    (end, *_) = ends(stream.pop_ready(held, FIRST + PIECE + 4000, CARD, pause))
    assert not end.last
    assert cut_at <= end.frames <= cut_at + CHUNK_FRAMES
    assert end.index == CARD + FIRST + end.frames


def test_the_end_carries_the_index_at_which_the_speech_ended() -> None:
    stream, held = UtteranceStream(7, FIRST, PIECE), buffer(5000)
    (end,) = ends(stream.finish(held, FIRST + 3000, CARD, FIRST + 2000))
    assert end == SpeechEnded(7, CARD + FIRST + 2000, 3000, last=True)


def test_an_empty_utterance_still_has_an_end() -> None:
    slot, end = UtteranceStream(7, FIRST, PIECE).finish(buffer(FIRST), FIRST, CARD, FIRST)
    assert isinstance(slot, SpeechSlot)
    assert (len(slot.samples), slot.flags) == (0, START | END)
    assert end == SpeechEnded(7, CARD + FIRST, 0, last=True)
