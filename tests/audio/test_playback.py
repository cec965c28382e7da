"""The voice as the card plays it: samples, timing and the effect of pauses."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import numpy as np
import pytest

from appliance.audio.hotplug import STALLED_S
from appliance.audio.playback import next_block
from appliance.audio.player import FadeProfile, Player
from appliance.audio.sample_format import fade_in
from appliance.messages.commands import SetVolume
from appliance.messages.playback import (
    CardLost,
    Dropouts,
    PlaybackFinished,
    PlaybackPaused,
    PlaybackResumed,
    PlaybackStarted,
    PlaybackStopped,
)
from appliance.runtime.ipc.floor import Floor, create
from appliance.runtime.ipc.ring import START, RingSlot
from tests.audio.rig import RATE_HZ, Rig, noise, rig_on
from tests.audio.sounds import joined, shift_of, smooth
from tests.audio.stop_latency import stop_latencies_ms

pytestmark = [pytest.mark.process, pytest.mark.usefixtures("simcard_library")]
RAMP = 32  # card.ramp_ms: 2
UP = 160  # speaking.resume_ramp_ms: 10


class ConcurrentFloor(Floor):
    """A floor on which the conductor drops the answer and the hold while `turn` is read."""

    armed = False

    def change_turn(self) -> None:
        if self.armed:
            self.armed = False
            self.turn, self.released = 2, self.hold

    @property
    def turn(self) -> int:
        now = Floor.turn.fget(self)  # type: ignore[attr-defined]
        self.change_turn()
        return int(now)

    @turn.setter
    def turn(self, value: int) -> None:
        Floor.turn.fset(self, value)  # type: ignore[attr-defined]


def test_a_dropped_answer_does_not_sound_between_the_conductors_two_writes() -> None:
    slots = (RingSlot(n, 0, 320 * n, 0, 1, START if n == 0 else 0, smooth(320)) for n in range(100))
    player = Player(
        lambda: next(slots, None), FadeProfile(RAMP, UP, 0, 0.0), block_frames=80, volume=1.0
    )
    floor = ConcurrentFloor(create())
    floor.turn = 1
    for n in range(20):
        next_block(player, floor, 80 * n)
    floor.hold = 1
    for n in range(20, 25):
        next_block(player, floor, 80 * n)
    floor.armed = True
    blocks = [next_block(player, floor, 80 * n) for n in range(25, 30)]
    assert not floor.armed
    assert not any(block.samples.any() for block in blocks)
    assert not any(isinstance(e, PlaybackResumed) for block in blocks for e in block.events)


def test_the_ring_played_holds_the_samples_and_times_of_the_card(either_card: Rig) -> None:
    rig = either_card
    factor = rig.card.rate_hz // RATE_HZ
    turn = rig.fresh()
    answer = smooth(8000)
    rig.send(SetVolume(0.5))
    rig.run(0.1)
    rig.say(turn, answer)
    first = rig.wait(PlaybackStarted).index
    rig.run(0.1)
    rig.floor.hold += 1
    rig.wait(PlaybackPaused)
    rig.floor.released = rig.floor.hold
    index = rig.wait(PlaybackFinished).index
    track = rig.track(first, index + 200)
    rig.send(SetVolume(1.0))
    played = joined(rig.played_slots, first, index + 200)
    if factor == 1:
        assert np.array_equal(track, played)
    else:  # the filter is between them, and its delay is included in the index
        assert abs(shift_of(track[::factor][100:3100], played[200:2000], 100)) <= 2
    voiced = [slot for slot in rig.played_slots if slot.stream == turn]
    assert voiced[0].position == 0
    assert sum(len(slot.samples) for slot in voiced) >= len(answer)
    assert np.abs(played).max() == pytest.approx(np.abs(answer).max() / 2, abs=300)


def test_a_click_is_played_at_the_index_of_its_sample(either_card: Rig) -> None:
    rig = either_card
    factor = rig.card.rate_hz // RATE_HZ
    turn = rig.fresh()
    click = np.zeros(1600, np.int16)
    click[800] = 20_000
    rig.say(turn, click)
    index = rig.wait(PlaybackStarted).index + 800
    track = rig.track(index - 100, index + 100)
    assert abs(int(np.argmax(np.abs(track))) - 100 * factor) <= 2 * factor


# Tests that share one card
def test_over_20_pauses_every_sample_is_played_once_at_the_reported_index(one_card: Rig) -> None:
    for _ in range(3):  # a dropout of the machine is not a failure: try again
        if _pauses_are_exact(one_card):
            return
    pytest.fail("three dropouts in a row with 80 ms of buffer")


def _pauses_are_exact(rig: Rig) -> bool:
    rng = np.random.default_rng(3)
    turn = rig.fresh()
    answer = noise(RATE_HZ * 3)
    rig.say(turn, answer)
    rig.wait(PlaybackStarted)
    for n in range(1, 21):
        rig.run(float(rng.uniform(0.04, 0.09)))  # longer than the fade-in
        rig.floor.hold += 1
        rig.wait(PlaybackPaused, n)
        rig.run(float(rng.uniform(0.0, 0.03)))
        rig.floor.released = rig.floor.hold
        rig.wait(PlaybackResumed, n)
    finished = rig.wait(PlaybackFinished)
    assert finished.position == len(answer)
    started = rig.of(PlaybackStarted)[0].index
    track = rig.track(started, finished.index + 1)
    rig.run(0.3)
    if rig.of(Dropouts, direction="playback"):
        return False
    starts = [(started, 0), *((m.index, m.position) for m in rig.of(PlaybackResumed))]
    ends = [
        *((m.index, m.position) for m in rig.of(PlaybackPaused)),
        (finished.index + 1, len(answer)),
    ]
    silent_from = started
    for (a, first), (b, last) in zip(starts, ends, strict=True):
        assert not track[silent_from - started : a - started].any()
        assert b - a == last - first
        expected = answer[first:last].astype(np.float32)
        if first:
            expected[:UP] *= fade_in(UP)
        if last < len(answer):
            expected[-RAMP:] *= fade_in(RAMP)[::-1]
        assert np.array_equal(track[a - started : b - started], np.rint(expected))
        silent_from = b
    assert [m.position for m in rig.of(PlaybackResumed)] == [
        m.position for m in rig.of(PlaybackPaused)
    ]
    return True


def test_a_new_turn_stops_the_answer_and_the_next_one_is_played(one_card: Rig) -> None:
    rig = one_card
    turn = rig.fresh()
    rig.say(turn, noise(RATE_HZ * 20))
    rig.wait(PlaybackStarted, turn=turn)
    rig.run(0.1)
    rig.floor.turn = turn + 1
    stopped = rig.wait(PlaybackStopped)
    rig._answer.clear()  # the speaker stops too
    rig.say(turn + 1, noise(1600, seed=2))
    rig.wait(PlaybackFinished, turn=turn + 1)
    assert stopped.turn == turn
    assert 0 < stopped.position < RATE_HZ * 5
    assert not rig.track(stopped.index, rig.of(PlaybackStarted, turn=turn + 1)[0].index).any()


def test_a_volume_change_takes_effect_at_once(one_card: Rig) -> None:
    rig = one_card
    turn = rig.fresh()
    rig.say(turn, np.full(RATE_HZ, 8000, np.int16))
    first = rig.wait(PlaybackStarted).index
    rig.run(0.1)
    rig.send(SetVolume(0.25))
    rig.run(0.3)
    rig.send(SetVolume(1.0))
    track = rig.track(first, rig.wait(PlaybackFinished).index)
    assert track[0] == track[-1] == 8000
    assert (track == 2000).sum() > RATE_HZ // 5


def test_the_ring_played_holds_the_samples_after_the_volume(one_card: Rig) -> None:
    """The echo canceller therefore does not need to know the volume."""
    rig = one_card
    turn = rig.fresh()
    rig.say(turn, np.full(RATE_HZ, 8000, np.int16))
    first = rig.wait(PlaybackStarted).index
    rig.send(SetVolume(0.25))
    rig.run(0.3)
    rig.send(SetVolume(1.0))
    last = rig.wait(PlaybackFinished).index
    blocks = joined(rig.played_slots, first, last)
    assert (blocks == 2000).any()
    np.testing.assert_array_equal(blocks, rig.track(first, last))


# Tests with a card of their own
def test_a_pause_takes_effect_within_the_queued_samples(tmp_path: Path) -> None:
    """`python -m tests.audio.stop_latency` measures the latency; this test only bounds it."""
    with rig_on(tmp_path) as rig:
        times = stop_latencies_ms(rig, 10)
    print("stop, machine part, ms:", np.percentile(times, [50, 95, 99]))
    assert len(times) >= 5
    assert np.median(times) < 22.5  # ms: 5 to fill a period, 5 until the next, 10 queued, 2 of fade


def test_a_killed_playback_continues_at_its_position(tmp_path: Path) -> None:
    with rig_on(tmp_path) as rig:
        turn = rig.fresh()
        rig.say(turn, noise(RATE_HZ * 2))
        rig.wait(PlaybackStarted)
        rig.run(0.1)
        child = rig.supervisor.parts["playback"].child
        assert child is not None
        os.kill(child.pid, signal.SIGKILL)
        rig.wait(PlaybackStarted, count=2)
        assert rig.wait(PlaybackFinished).position == RATE_HZ * 2
        positions = [slot.position for slot in rig.played_slots if slot.stream == turn]
        assert np.diff(positions).max() - 80 <= 320  # the rest of the slot that it had read


def test_a_stalled_playback_plays_the_rest_and_reports_no_lost_card(tmp_path: Path) -> None:
    with rig_on(tmp_path) as rig:
        turn = rig.fresh()
        rig.say(turn, noise(RATE_HZ * 3))
        rig.wait(PlaybackStarted)
        rig.run(0.1)
        child = rig.supervisor.parts["playback"].child
        assert child is not None
        os.kill(child.pid, signal.SIGSTOP)
        rig.run(STALLED_S + 0.3)
        os.kill(child.pid, signal.SIGCONT)
        assert rig.wait(PlaybackFinished).position == RATE_HZ * 3
        assert rig.wait(Dropouts, direction="playback").count > 0
        assert rig.of(CardLost) == []
        assert rig.supervisor.parts["playback"].starts == 1
