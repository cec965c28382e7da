"""The ring `near` gets the sounds over the box from their beginning, and nothing else."""

from __future__ import annotations

import numpy as np

from appliance.hear.words.feed import KeywordFeed, KeywordSlot
from appliance.hear.words.interfaces import BEFORE_FRAMES
from appliance.pcm import BLOCK_FRAMES, RATE_HZ, Samples
from appliance.runtime.ipc.ring import END, START

INDEX = 10_000_000


def fed(near: KeywordFeed, turns: list[int], first: int = 0) -> list[KeywordSlot]:
    """Feed a block for each of `turns`; its samples are the number of the block."""
    return [
        piece
        for n, turn in enumerate(turns, first)
        for piece in near.process(block(n), INDEX + n * BLOCK_FRAMES, turn)
    ]


def block(number: int) -> Samples:
    return np.full(BLOCK_FRAMES, number, np.int16)


def test_a_sound_over_the_box_includes_the_samples_before_it() -> None:
    near = KeywordFeed()
    near.busy = True
    pieces = fed(near, [0] * 100 + [7] * 20 + [0])
    assert {piece.turn for piece in pieces} == {7}
    assert [piece.flags for piece in pieces] == [START, *[0] * (len(pieces) - 2), END]
    fed_samples = np.concatenate([piece.samples for piece in pieces])
    wanted = np.arange(100 - BEFORE_FRAMES // BLOCK_FRAMES, 120).repeat(BLOCK_FRAMES)
    np.testing.assert_array_equal(fed_samples, wanted)
    assert pieces[0].at == INDEX + 100 * BLOCK_FRAMES - BEFORE_FRAMES


def test_a_question_to_a_silent_box_is_not_fed() -> None:
    assert fed(KeywordFeed(), [0] * 100 + [7] * 20 + [0] * 10) == []


def test_a_word_just_after_the_answer_still_counts() -> None:
    near = KeywordFeed()
    near.busy = True
    fed(near, [0] * 10)
    near.busy = False
    assert fed(near, [7] * 5, 10)
    near = KeywordFeed()
    near.busy = True
    fed(near, [0] * 10)
    near.busy = False
    assert fed(near, [0] * 401 + [7] * 5, 10) == []


def test_a_sound_that_began_over_the_answer_is_followed_when_the_answer_is_dropped() -> None:
    near = KeywordFeed()
    near.busy = True
    fed(near, [0] * 70 + [7] * 10)
    near.busy = False
    assert len(fed(near, [7] * 10, 80)) == 10


def test_a_long_sound_is_cut_after_three_seconds() -> None:
    near = KeywordFeed()
    near.busy = True
    pieces = fed(near, [0] * 70 + [7] * 2000 + [0] * 5)
    assert sum(len(piece.samples) for piece in pieces) == 3 * RATE_HZ + BEFORE_FRAMES
    assert [piece.flags for piece in pieces if piece.flags] == [START, END]


def test_all_sound_is_fed_while_waiting_for_the_wake_word() -> None:
    near = KeywordFeed()
    near.waiting = True
    pieces = fed(near, [0] * 10)
    assert [(piece.turn, piece.at) for piece in pieces] == [
        (0, INDEX + n * BLOCK_FRAMES) for n in range(10)
    ]
