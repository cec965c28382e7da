"""The player plays every sample once, in order, and changes state at exact samples."""

from __future__ import annotations

from collections import deque

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from appliance.audio.fader import QUIET
from appliance.audio.sample_format import fade_in
from appliance.messages.playback import (
    PlaybackFinished,
    PlaybackPaused,
    PlaybackResumed,
    PlaybackStarted,
    PlaybackStopped,
)
from appliance.pcm import Samples
from appliance.runtime.ipc.ring import RingSlot
from tests.audio.player_bench import BLOCK, FIRST, RAMP, Bench, assert_smooth
from tests.audio.rig import noise


def test_an_answer_is_played_bit_for_bit_between_silence() -> None:
    bench, answer = Bench(), noise(1000)
    bench.go(3)
    bench.offer(1, answer)
    bench.go(20)
    assert bench.events == [
        PlaybackStarted(1, FIRST + 240),
        PlaybackFinished(1, 1000, FIRST + 240 + 999),
    ]
    assert np.array_equal(bench.from_index(FIRST + 240, FIRST + 1240), answer)
    assert not bench.sent[:240].any()
    assert not bench.sent[1240 + RAMP :].any()  # after a loud end the last sample is faded out


def test_the_end_may_be_a_slot_without_samples() -> None:
    bench = Bench()
    bench.offer(1, noise(320), end=False)
    bench.go(4)
    assert not bench.of(PlaybackFinished)
    bench.offer(1, np.empty(0, np.int16), position=320)
    bench.go(2)
    assert bench.of(PlaybackFinished) == [PlaybackFinished(1, 320, FIRST + 319)]


def test_an_answer_without_samples_is_finished_and_never_started() -> None:
    bench = Bench()
    bench.offer(1, np.empty(0, np.int16))
    bench.go(2)
    assert [type(event) for event in bench.events] == [PlaybackFinished]


def test_a_pause_fades_within_the_next_block_and_reports_its_position() -> None:
    bench, answer = Bench(), noise(4000)
    bench.offer(1, answer)
    bench.go(5)
    bench.hold = 7
    bench.go(4)
    assert bench.of(PlaybackPaused) == [PlaybackPaused(1, 7, 400 + RAMP, FIRST + 400 + RAMP)]
    faded = bench.from_index(FIRST + 400, FIRST + 400 + RAMP)
    assert np.array_equal(faded, np.rint(answer[400 : 400 + RAMP] * fade_in(RAMP)[::-1]))
    assert not bench.sent[400 + RAMP :].any()


def test_a_resumed_answer_continues_with_the_next_sample() -> None:
    bench, answer = Bench(), noise(4000)
    bench.offer(1, answer)
    bench.go(5)
    bench.hold = 7
    bench.go(9)
    bench.released = 7
    bench.go(2)
    at = FIRST + 14 * BLOCK
    assert bench.of(PlaybackResumed) == [PlaybackResumed(1, 7, 432, at)]
    faded = bench.from_index(at, at + RAMP)
    assert np.array_equal(faded, np.rint(answer[432 : 432 + RAMP] * fade_in(RAMP)))
    after = bench.from_index(at + RAMP, at + 160)
    assert np.array_equal(after, answer[432 + RAMP : 432 + 160])


def test_a_second_onset_during_a_pause_reports_the_same_position() -> None:
    bench = Bench()
    bench.offer(1, noise(4000))
    bench.go(2)
    bench.hold = 1
    bench.go(3)
    bench.hold = 2
    bench.go(3)
    first, second = bench.of(PlaybackPaused)
    assert (second.position, second.index) == (first.position, first.index)
    assert (first.serial, second.serial) == (1, 2)


def test_an_onset_before_the_answer_delays_all_of_it() -> None:
    bench, answer = Bench(), noise(500)
    bench.hold = 1
    bench.offer(1, answer)
    bench.go(5)
    assert not bench.events
    assert not bench.sent.any()
    bench.released = 1
    bench.go(8)
    assert np.array_equal(bench.from_index(FIRST + 400, FIRST + 900), answer)


def test_a_new_turn_fades_out_and_reports_how_much_was_heard() -> None:
    bench = Bench()
    bench.offer(1, noise(4000))
    bench.go(5)
    bench.turn = 2
    bench.go(2)
    assert bench.of(PlaybackStopped) == [PlaybackStopped(1, 400 + RAMP, FIRST + 400 + RAMP)]
    assert not bench.sent[400 + RAMP :].any()


def test_a_new_turn_during_a_pause_stops_at_the_pauses_position() -> None:
    bench = Bench()
    bench.offer(1, noise(4000))
    bench.go(5)
    bench.hold = 3
    bench.go(5)
    bench.turn = 2
    bench.go(1)
    (paused,), (stopped,) = bench.of(PlaybackPaused), bench.of(PlaybackStopped)
    assert (stopped.position, stopped.index) == (paused.position, paused.index)


def test_the_next_answer_is_played_after_skipping_stale_slots() -> None:
    bench, new = Bench(), noise(500, seed=2)
    bench.offer(1, noise(320 * 100))
    bench.go(2)
    bench.turn = 2
    bench.offer(2, new)
    bench.go(12)
    started = bench.of(PlaybackStarted)[1]
    assert np.array_equal(bench.from_index(started.index, started.index + 500), new)
    assert started.index - FIRST <= 6 * BLOCK  # skipping a full ring takes less than 20 ms


def test_slots_of_a_later_turn_wait_for_it() -> None:
    bench, answer = Bench(), noise(200)
    bench.offer(2, answer)
    bench.go(4)
    assert not bench.sent.any()
    bench.turn = 2
    bench.go(4)
    assert bench.of(PlaybackStarted) == [PlaybackStarted(2, FIRST + 320)]


def test_a_stale_answer_that_was_never_played_is_dropped_without_an_event() -> None:
    bench = Bench()
    bench.turn = 5
    bench.offer(4, noise(2000))
    bench.go(4)
    assert not bench.events
    assert not bench.slots


def test_a_late_speaker_costs_silence_but_no_sample() -> None:
    bench, answer = Bench(), noise(640)
    bench.offer(1, answer[:320], end=False)
    bench.go(9)
    bench.offer(1, answer[320:], position=320)
    bench.go(6)
    assert [type(event) for event in bench.events] == [PlaybackStarted, PlaybackFinished]
    assert np.array_equal(bench.sent[:320], answer[:320])
    resumed = bench.sent[720 : 720 + 320]
    assert np.array_equal(resumed[RAMP:], answer[320 + RAMP :])
    assert np.array_equal(resumed[:RAMP], np.rint(answer[320 : 320 + RAMP] * fade_in(RAMP)))


def test_a_late_speaker_continues_a_quiet_voice_without_a_fade() -> None:
    bench = Bench()
    quiet = np.full(640, QUIET // 2, np.int16)
    bench.offer(1, quiet[:320], end=False)
    bench.go(9)
    bench.offer(1, quiet[320:], position=320)
    bench.go(6)
    assert np.array_equal(bench.sent[720 : 720 + 320], quiet[320:])
    assert not bench.sent[320:720].any()


def test_a_voice_that_underruns_at_a_loud_sample_is_faded_out() -> None:
    bench = Bench()
    bench.offer(1, np.full(320, 8000, np.int16), end=False)
    bench.go(6)
    steps = np.abs(np.diff(bench.sent[300:].astype(np.int32)))
    assert steps.max() <= 8000 * np.pi / 2 / RAMP + 2


def test_a_pause_during_an_underrun_is_reported_where_the_voice_ended() -> None:
    bench = Bench()
    bench.offer(1, noise(320), end=False)
    bench.go(8)
    bench.hold = 1
    bench.go(1)
    assert bench.of(PlaybackPaused) == [PlaybackPaused(1, 1, 320, FIRST + 320)]


def test_an_answer_that_ends_within_the_fade_is_finished_and_not_paused() -> None:
    bench = Bench()
    bench.offer(1, noise(170))
    bench.go(2)
    bench.hold = 1
    bench.go(3)
    assert [type(event) for event in bench.events] == [PlaybackStarted, PlaybackFinished]
    assert bench.events[-1] == PlaybackFinished(1, 170, FIRST + 169)


def test_an_answer_taken_over_midway_is_faded_in_and_reported_as_started() -> None:
    bench, answer = Bench(), noise(640)
    bench.offer(1, answer, position=3200)
    bench.go(1)
    assert bench.of(PlaybackStarted) == [PlaybackStarted(1, FIRST)]
    assert abs(int(bench.sent[0])) < 100
    assert bench.voiced == [(FIRST, 3200, 1)]


def test_after_a_dropout_the_voice_is_faded_in_and_no_sample_is_skipped() -> None:
    bench, answer = Bench(), noise(640)
    bench.offer(1, answer)
    bench.go(2)
    bench.player.on_dropout()
    bench.go(1)
    assert np.array_equal(bench.sent[160 : 160 + RAMP], np.rint(answer[160:192] * fade_in(RAMP)))
    assert np.array_equal(bench.sent[192:240], answer[192:240])


def test_after_a_dropout_without_further_samples_there_is_silence() -> None:
    bench = Bench()
    bench.offer(1, np.full(160, 8000, np.int16), end=False)
    bench.go(2)
    bench.player.on_dropout()
    bench.go(2)
    assert not bench.sent[160:].any()  # the card has stopped, so the last sample is not faded out


def test_a_volume_change_takes_one_block_without_a_step() -> None:
    bench = Bench(volume=1.0)
    bench.offer(1, np.full(3200, 10_000, np.int16))
    bench.go(2)
    bench.player.set_volume(0.25)
    bench.go(3)
    assert (bench.sent[:160] == 10_000).all()
    assert (bench.sent[240:] == 2_500).all()
    assert np.abs(np.diff(bench.sent.astype(np.int32))).max() <= 7500 / BLOCK + 1


def test_at_volume_0_the_answer_advances_silently() -> None:
    bench = Bench(volume=0.0)
    bench.offer(1, noise(320))
    bench.go(5)
    assert not bench.sent.any()
    assert bench.of(PlaybackFinished) == [PlaybackFinished(1, 320, FIRST + 319)]


@pytest.mark.parametrize("slot", [320, 80, 79, 1])
@pytest.mark.parametrize(("block", "ramp"), [(80, 32), (80, 80), (32, 80)])
@settings(max_examples=10, deadline=None)
@given(data=st.data())
@pytest.mark.long
def test_no_pause_loses_or_repeats_a_sample(
    slot: int, block: int, ramp: int, data: st.DataObject
) -> None:
    """Up to 30 pauses, presses, underruns and refused blocks at random positions."""
    answer = noise(4000)
    duck = data.draw(st.sampled_from((0.0, 0.125)))
    bench = Bench(block=block, ramp=ramp, up=data.draw(st.sampled_from((ramp, 160))), duck=duck)
    bench.offer(1, answer, slot=slot)
    saved: list[RingSlot] = []
    kinds = st.sampled_from(("go", "pause", "press", "dry", "refused"))
    for action, blocks in data.draw(st.lists(st.tuples(kinds, st.integers(1, 4)), max_size=30)):
        if action == "pause":
            bench.hold += 1
            bench.go(blocks)
            bench.released = bench.hold
        elif action == "press":
            bench.pressed = True
            bench.go(blocks)
            bench.pressed = False
        elif action == "dry":
            saved, bench.slots = list(bench.slots), deque()
            bench.go(blocks)
            bench.slots = deque(saved)
        elif action == "refused":
            held = data.draw(st.booleans())
            bench.hold += held
            for _ in range(blocks):
                bench.refuse()
            bench.released = bench.hold
        bench.go(blocks)
    bench.go(4000 // block + 200)
    (started,), (finished,) = bench.of(PlaybackStarted), bench.of(PlaybackFinished)
    assert (started.index, finished.position) == (bench.voiced[0][0], 4000)
    _assert_contiguous(bench, answer, block)
    assert_smooth(bench, answer, ramp)


def _assert_contiguous(bench: Bench, answer: Samples, block: int) -> None:
    """Assert that voiced blocks are contiguous and that events report their positions."""
    assert bench.voiced[0][1] == 0
    ends = [position for _, position, _ in bench.voiced[1:]] + [len(answer)]
    for (_, position, _), end in zip(bench.voiced, ends, strict=True):
        assert 0 < end - position <= block
    reported = [(e.index, e.position) for e in bench.of(PlaybackPaused)]
    reported += [(e.index, e.position) for e in bench.of(PlaybackResumed)]
    for at, position in reported:
        assert position == next((v[1] for v in bench.voiced if v[0] >= at), len(answer))
