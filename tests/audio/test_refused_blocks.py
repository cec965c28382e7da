"""A block refused by the card is repeated, faded in, and reported only after it is played."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from appliance.audio.sample_format import fade_in
from appliance.messages.playback import (
    PlaybackFinished,
    PlaybackPaused,
    PlaybackResumed,
    PlaybackStarted,
    PlaybackStopped,
)
from appliance.pcm import BLOCK_FRAMES, RATE_HZ
from tests.audio.default_card import default_card
from tests.audio.playback_stage import FADED, SINE, Refusal, Stage
from tests.audio.player_bench import FIRST, RAMP, Bench
from tests.audio.rig import noise

# ── the player ───────────────────────────────────────────────────────────────────────────────


def test_a_refused_block_is_faded_in_after_the_silence() -> None:
    bench, answer = Bench(), noise(640)
    bench.offer(1, answer)
    bench.go(2)
    bench.refuse()
    bench.go(7)
    assert np.array_equal(bench.sent[400:432], np.rint(answer[160:192] * fade_in(RAMP)))
    assert np.array_equal(bench.sent[432:880], answer[192:])
    assert bench.events == [PlaybackStarted(1, FIRST), PlaybackFinished(1, 640, FIRST + 879)]


def test_an_answer_whose_first_block_was_refused_has_not_started() -> None:
    bench, answer = Bench(), noise(640)
    bench.offer(1, answer)
    bench.refuse()
    bench.hold = 1  # as before any answer: no pause is reported
    bench.go(2)
    assert not bench.events
    bench.released = 1
    bench.go(8)
    assert np.array_equal(bench.sent[400:1040], answer)  # a regular start: no fade
    assert bench.of(PlaybackStarted) == [PlaybackStarted(1, FIRST + 400)]


def test_dropping_an_answer_whose_first_block_was_refused_sends_no_event() -> None:
    bench = Bench()
    bench.offer(1, noise(640))
    bench.refuse()
    bench.turn = 2
    bench.go(4)
    assert not bench.events
    assert not bench.sent.any()
    assert not bench.slots


@pytest.mark.parametrize("dropped", [False, True])
def test_a_refused_fade_does_not_count_as_played(dropped: bool) -> None:
    bench = Bench()
    bench.offer(1, noise(4000))
    bench.go(5)
    bench.hold = 7
    if dropped:
        bench.turn = 2
    bench.refuse()
    bench.go(3)
    expected = (
        PlaybackStopped(1, 400, FIRST + 400) if dropped else PlaybackPaused(1, 7, 400, FIRST + 400)
    )
    assert bench.events[1:] == [expected]
    assert not bench.sent[400:].any()


def test_dropping_an_answer_whose_last_block_was_refused_is_a_stop() -> None:
    bench = Bench()
    bench.offer(1, noise(480))
    bench.go(5)
    bench.refuse()
    bench.turn = 2
    bench.go(3)
    assert bench.events[1:] == [PlaybackStopped(1, 400, FIRST + 400)]


def test_consecutive_refused_blocks_are_all_repeated() -> None:
    bench, answer = Bench(), noise(960)
    bench.offer(1, answer, slot=7)
    bench.go(3)
    for _ in range(100):
        bench.refuse()
    bench.go(9)
    (finished,) = bench.of(PlaybackFinished)
    at = 240 + 100 * 240
    assert finished.index == FIRST + at + 719
    assert np.array_equal(bench.sent[at + RAMP : at + 720], answer[240 + RAMP :])


# ── on a card ────────────────────────────────────────────────────────────────────────────────
OWN_STEP = int(np.abs(np.diff(SINE.astype(np.int32))).max())
AT = 31 * BLOCK_FRAMES  # the sine is loud there
REFUSALS: tuple[Refusal, ...] = ("dropout", "gone")


@pytest.fixture
def stage(simcard_library: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    with default_card(simcard_library, monkeypatch, RATE_HZ) as card, closing(Stage(card)) as made:
        yield made


def finished(stage: Stage) -> Callable[[], bool]:
    return lambda: bool(stage.of(PlaybackFinished))


@pytest.mark.process
@pytest.mark.parametrize("refusal", REFUSALS)
@pytest.mark.parametrize("at", [0, AT, len(SINE) - BLOCK_FRAMES])
def test_after_a_refused_block_the_answer_is_complete_and_free_of_clicks(
    stage: Stage, refusal: Refusal, at: int
) -> None:
    stage.refuse_block(at, refusal)
    stage.play(finished(stage))
    assert [slot.position for slot in stage.voiced] == list(range(0, len(SINE), BLOCK_FRAMES))
    assert stage.offered > len(stage.voiced)  # at least one was refused
    runs = stage.runs()
    # On a busy machine the block before it may be refused with it.
    assert {at, at - BLOCK_FRAMES} & {position for _, position, _ in runs}
    for index, position, frames in runs:
        if position < at and refusal == "gone":
            continue  # its end was lost in the buffer of the unplugged card
        first = stage.first_heard(index, position, frames)
        sound = np.concatenate(([0], stage.track(first, first + frames))).astype(np.int32)
        assert np.abs(np.diff(sound)).max() <= OWN_STEP
        assert np.array_equal(sound[1 + FADED :], SINE[position + FADED : position + frames])
    assert stage.messages_of_the_answer() == [
        PlaybackStarted(1, runs[0][0]),
        PlaybackFinished(1, len(SINE), runs[-1][0] + runs[-1][2] - 1),
    ]


@pytest.mark.process
@pytest.mark.parametrize("refusal", REFUSALS)
def test_a_pause_with_a_refused_fade_is_reported_once_where_the_voice_ended(
    stage: Stage, refusal: Refusal
) -> None:
    def release_and_finish() -> bool:
        if stage.of(PlaybackPaused):
            stage.floor.released = stage.floor.hold
        return bool(stage.of(PlaybackFinished))

    stage.refuse_block(AT - BLOCK_FRAMES, None, also=lambda: setattr(stage.floor, "hold", 1))
    stage.refuse_block(AT, refusal)
    stage.play(release_and_finish)
    ends = {position + frames: index + frames for index, position, frames in stage.runs()}
    resumed_at = next(index for index, position, _ in stage.runs() if position == AT)
    assert [slot.position for slot in stage.voiced] == list(range(0, len(SINE), BLOCK_FRAMES))
    assert stage.messages_of_the_answer()[1:] == [
        PlaybackPaused(1, 1, AT, ends[AT]),
        PlaybackResumed(1, 1, AT, resumed_at),
        PlaybackFinished(1, len(SINE), ends[len(SINE)] - 1),
    ]
    assert not stage.track(ends[AT], resumed_at).any()


@pytest.mark.process
@pytest.mark.parametrize("refusal", REFUSALS)
def test_an_answer_dropped_during_a_refused_block_is_silent(stage: Stage, refusal: Refusal) -> None:
    stage.refuse_block(AT, refusal, also=lambda: setattr(stage.floor, "turn", 2))
    stage.play(lambda: bool(stage.of(PlaybackStopped)))
    index, position, frames = stage.runs()[-1]
    assert position + frames == AT
    assert stage.messages_of_the_answer()[1:] == [PlaybackStopped(1, AT, index + frames)]
    assert not stage.track(index + frames).any()
