"""The log of an answer: what counts as a stop, and when the owner asks again."""

from __future__ import annotations

import numpy as np

from appliance.sound_format import BLOCK_FRAMES, RATE_HZ
from lab.peers.answer_log import SILENT_S, AnswerLog
from lab.peers.pipe import Event

TALK = np.arange(1000, dtype=np.int16)
ASKED = 10 * BLOCK_FRAMES


def test_the_answers_sound_is_looped() -> None:
    log = AnswerLog(TALK, ASKED)
    assert log.next_samples(700).tolist() == list(range(700))
    assert log.next_samples(500).tolist() == [*range(700, 1000), *range(200)]


def test_the_silence_after_a_stop_is_on_purpose() -> None:
    log = AnswerLog(TALK, ASKED)
    log.played(ASKED, audible=True)
    log.now = ASKED + BLOCK_FRAMES
    log.note("stopped")
    log.played(log.now, audible=True)  # what the card still held
    log.played(log.now + BLOCK_FRAMES, audible=False)
    assert log.pop_events() == (
        Event(log.now, "stopped"),
        Event(log.now + BLOCK_FRAMES, "silent"),
    )
    assert log.pop_events() == ()


def test_a_gap_without_a_stop_is_no_stop() -> None:
    log = AnswerLog(TALK, ASKED)
    for block, audible in enumerate((True, False, True, False)):
        log.played(ASKED + block * BLOCK_FRAMES, audible=audible)
    assert log.pop_events() == ()


def test_what_happens_before_the_first_answer_is_not_logged() -> None:
    log = AnswerLog(TALK, ASKED)
    log.now = ASKED - BLOCK_FRAMES
    log.note("stopped")
    log.played(log.now, audible=True)
    log.played(ASKED, audible=False)
    assert log.pop_events() == ()


def test_the_owner_asks_first_and_again_after_a_long_silence() -> None:
    log = AnswerLog(TALK, ASKED)
    asked = []
    for at in range(0, 20 * RATE_HZ, BLOCK_FRAMES):
        if log.due(at):
            asked.append(at)
        log.played(at, audible=ASKED < at < 2 * RATE_HZ)
    again = 2 * RATE_HZ + SILENT_S * RATE_HZ
    assert asked[0] == ASKED
    assert 0 < asked[1] - again <= BLOCK_FRAMES
    assert 0 < asked[2] - asked[1] - SILENT_S * RATE_HZ <= BLOCK_FRAMES
    assert len(asked) == 3
