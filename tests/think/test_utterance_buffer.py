"""Utterances from ring slots: complete, cut into clips, bounded in length."""

from __future__ import annotations

import numpy as np
import pytest

from appliance.runtime.ipc.ring import END, START, RingSlot
from appliance.think.utterance_buffer import UNNAMED_S, UtteranceBuffer

SLOT = 320


def slot(utterance: int, flags: int = 0, value: int = 1, frames: int = SLOT) -> RingSlot:
    return RingSlot(0, 0, 0, 0, utterance, flags, np.full(frames, value, np.int16))


def fill(
    utterances: UtteranceBuffer, number: int, slots: int, value: int = 1, now_s: float = 0
) -> None:
    for at in range(slots):
        flags = (START if at == 0 else 0) | (END if at == slots - 1 else 0)
        utterances.push(slot(number, flags, value), now_s)


def test_an_utterance_is_one_clip_with_all_its_samples() -> None:
    utterances = UtteranceBuffer()
    for at in range(4):
        utterances.push(slot(3, START if at == 0 else 0, at), 0)
    done = utterances.push(slot(3, END, 9, frames=7), 0)
    question = utterances.pop([3])
    assert question.clips == (done,)
    expected = [*np.repeat(range(4), SLOT), *([9] * 7)]
    assert question.clips[0].samples.tolist() == expected
    assert utterances.frames == 0


def test_utterances_are_returned_in_the_order_named() -> None:
    utterances = UtteranceBuffer()
    fill(utterances, 1, 2, value=1)
    fill(utterances, 2, 2, value=2)
    question = utterances.pop([2, 1, 5])
    assert [clip.samples[0] for clip in question.clips] == [2, 1]
    assert question.missing == (5,)


def test_an_utterance_without_its_end_is_returned_so_far() -> None:
    utterances = UtteranceBuffer()
    utterances.push(slot(1, START), 0)
    assert len(utterances.pop([1]).clips[0].samples) == SLOT


def test_an_end_without_samples_gives_no_utterance() -> None:
    utterances = UtteranceBuffer()
    utterances.push(slot(1, END, frames=0), 0)
    assert utterances.pop([1]).missing == (1,)


def test_a_long_utterance_is_cut_where_it_is_quiet() -> None:
    utterances = UtteranceBuffer(clip_frames=100 * SLOT)
    for at in range(120):
        utterances.push(slot(1, START if at == 0 else 0, 0 if 80 <= at < 90 else 1000), 0)
    first, second = utterances.pop([1]).clips
    assert 80 * SLOT < len(first.samples) <= 90 * SLOT
    assert len(first.samples) + len(second.samples) == 120 * SLOT


def test_clips_of_loud_noise_are_cut_too() -> None:
    utterances = UtteranceBuffer(clip_frames=10 * SLOT)
    fill(utterances, 1, 95, value=32767)
    clips = utterances.pop([1]).clips
    assert sum(len(clip.samples) for clip in clips) == 95 * SLOT
    assert max(len(clip.samples) for clip in clips) <= 10 * SLOT


@pytest.mark.long
def test_a_monologue_keeps_its_end_and_the_dropped_rest_is_counted() -> None:
    utterances = UtteranceBuffer(keep_frames=300 * SLOT, clip_frames=50 * SLOT)
    for at in range(3000):
        utterances.push(slot(1, START if at == 0 else 0, at % 100), 0)
        assert utterances.frames <= 301 * SLOT
    question = utterances.pop([1])
    kept_frames = sum(len(clip.samples) for clip in question.clips)
    assert 200 * SLOT <= kept_frames <= 300 * SLOT
    assert question.dropped_s == (3000 * SLOT - kept_frames) / 16_000
    assert question.clips[-1].samples[-1] == 2999 % 100


def test_an_utterance_without_a_question_is_dropped_after_a_while() -> None:
    utterances = UtteranceBuffer()
    fill(utterances, 1, 5, now_s=0)
    fill(utterances, 2, 5, now_s=UNNAMED_S - 1)
    assert utterances.frames == 10 * SLOT
    fill(utterances, 3, 5, now_s=UNNAMED_S + 1)
    assert utterances.pop([1, 2, 3]).missing == (1,)
