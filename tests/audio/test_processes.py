"""Capture and playback as they ship, under the supervisor, on the software card."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from appliance.audio.sample_format import fade_in
from appliance.messages.commands import SetVolume
from appliance.messages.playback import (
    CardFound,
    CardLost,
    Dropouts,
    PlaybackFinished,
    PlaybackPaused,
    PlaybackResumed,
    PlaybackStarted,
    PlaybackStopped,
)
from appliance.pcm import Samples
from appliance.runtime.ipc.ring import RingSlot
from tests.audio.rig import RATE_HZ, Rig, noise, rig_on
from tests.audio.stop_latency import stop_latencies_ms

pytestmark = [pytest.mark.process, pytest.mark.usefixtures("simcard_library")]

RAMP = 32  # card.ramp_ms: 2
UP = 160  # speaking.resume_ramp_ms: 10


def said(rig: Rig, sound: Samples) -> int:
    """Say a sound at the microphone and wait until it is in the ring; its true index."""
    at = rig.card.now() + rig.card.rate_hz // 20
    rig.card.add_sound(at, sound)
    factor = rig.card.rate_hz // RATE_HZ
    index = rig.origin + at // factor
    rig.hear(index + len(sound) // factor + 200)
    return index


def joined(slots: list[RingSlot], first: int, last: int) -> Samples:
    """The ring's samples by index, zeros where there were none."""
    out = np.zeros(last - first, np.int16)
    for slot in slots:
        at, n = slot.index - first, len(slot.samples)
        low, high = max(0, -at), min(n, len(out) - at)
        if low < high:
            out[at + low : at + high] = slot.samples[low:high]
    return out


def shift_of(found: Samples, sound: Samples, at: int) -> int:
    """By how many samples `sound` lies later in `found` than `at`."""
    scores = np.correlate(found.astype(np.float64), sound.astype(np.float64), "valid")
    return int(np.argmax(scores)) - at


# A buffer of 80 ms where lateness is not what is tested: a busy machine may hold us up for long.
DEEP: dict[str, Any] = {"period_ms": 10, "periods": 8, "reserve_ms": 70}


@pytest.fixture(scope="module", params=[16_000, 48_000])
def either_card(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Rig]:
    """A card that does 16 kHz, and one that does 48 kHz only."""
    with rig_on(tmp_path_factory.mktemp("either"), rate_hz=request.param, **DEEP) as rig:
        yield rig


@pytest.fixture(scope="module")
def one_card(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rig]:
    with rig_on(tmp_path_factory.mktemp("one"), **DEEP) as rig:
        yield rig


def smooth(frames: int, factor: int = 1) -> Samples:
    """Noise below 4 kHz at 16 kHz × factor: it passes the rate conversion unharmed."""
    width = 4 * factor
    raw = noise(frames * factor).astype(np.float64)
    return np.convolve(raw, np.hanning(width + 2)[1:-1] / width, "same").astype(np.int16)


# Both rates


def test_a_sound_is_in_the_ring_under_the_index_at_which_it_sounded(either_card: Rig) -> None:
    rig = either_card
    rig.fresh()
    factor = rig.card.rate_hz // RATE_HZ
    sound = smooth(800, factor)
    index = said(rig, sound)
    found = joined(rig.mic_slots, index - 100, index + 900)
    assert abs(shift_of(found, sound[::factor], 100)) <= 2
    assert {len(slot.samples) for slot in rig.mic_slots} == {80}


def test_capture_and_playback_number_the_same_sample_alike(either_card: Rig) -> None:
    """The loudspeaker straight into the microphone: what was played at an index was heard there."""
    rig = either_card
    rig.card.set_echo([1.0])
    turn = rig.fresh()
    rig.say(turn, smooth(4800))
    first = rig.wait(PlaybackStarted).index
    rig.hear(first + 5200)
    rig.card.set_echo(None)
    heard = joined(rig.mic_slots, first - 100, first + 5000)
    played = joined(rig.played_slots, first, first + 4000)
    assert abs(shift_of(heard, played, 100)) <= 2


def test_played_is_what_really_left_and_when(either_card: Rig) -> None:
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
    else:  # the filter lies between them; its delay is in the index
        assert abs(shift_of(track[::factor][100:3100], played[200:2000], 100)) <= 2
    voiced = [slot for slot in rig.played_slots if slot.stream == turn]
    assert voiced[0].position == 0
    assert sum(len(slot.samples) for slot in voiced) >= len(answer)
    assert np.abs(played).max() == pytest.approx(np.abs(answer).max() / 2, abs=300)


def test_a_click_sounds_at_the_index_of_its_sample(either_card: Rig) -> None:
    rig = either_card
    factor = rig.card.rate_hz // RATE_HZ
    turn = rig.fresh()
    click = np.zeros(1600, np.int16)
    click[800] = 20_000
    rig.say(turn, click)
    index = rig.wait(PlaybackStarted).index + 800
    track = rig.track(index - 100, index + 100)
    assert abs(int(np.argmax(np.abs(track))) - 100 * factor) <= 2 * factor


# One card


def test_over_20_pauses_every_sample_sounds_once_and_where_the_messages_say(one_card: Rig) -> None:
    for _ in range(3):  # a dropout of the machine is no seam: then once more
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
        rig.run(float(rng.uniform(0.04, 0.09)))  # longer than the fade back
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
        meant = answer[first:last].astype(np.float32)
        if first:
            meant[:UP] *= fade_in(UP)
        if last < len(answer):
            meant[-RAMP:] *= fade_in(RAMP)[::-1]
        assert np.array_equal(track[a - started : b - started], np.rint(meant))
        silent_from = b
    assert [m.position for m in rig.of(PlaybackResumed)] == [
        m.position for m in rig.of(PlaybackPaused)
    ]
    return True


def test_a_raised_turn_silences_the_answer_and_the_next_one_sounds(one_card: Rig) -> None:
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


def test_muted_means_zeros_before_the_ring(one_card: Rig) -> None:
    rig = one_card
    rig.fresh()
    rig.floor.muted = True
    rig.run(0.05)
    index = said(rig, noise(800))
    assert not joined(rig.mic_slots, index - 100, index + 900).any()
    rig.floor.muted = False
    rig.run(0.05)
    index = said(rig, noise(800))
    assert joined(rig.mic_slots, index - 100, index + 900).any()


def test_the_switch_cuts_the_microphone_whatever_the_conductor_says(one_card: Rig) -> None:
    rig = one_card
    rig.fresh()
    rig.floor.switched_off = True
    rig.floor.muted = False
    try:
        rig.run(0.05)
        index = said(rig, noise(800))
        assert not joined(rig.mic_slots, index - 100, index + 900).any()
    finally:
        rig.floor.switched_off = False
    rig.run(0.05)
    index = said(rig, noise(800))
    assert joined(rig.mic_slots, index - 100, index + 900).any()


def test_volume_acts_at_once(one_card: Rig) -> None:
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


def test_the_ring_played_holds_what_left_the_volume_included(one_card: Rig) -> None:
    """So the echo canceller need not be told of any volume."""
    rig = one_card
    turn = rig.fresh()
    rig.say(turn, np.full(RATE_HZ, 8000, np.int16))
    first = rig.wait(PlaybackStarted).index
    rig.send(SetVolume(0.25))
    rig.run(0.3)
    rig.send(SetVolume(1.0))
    last = rig.wait(PlaybackFinished).index
    told = joined(rig.played_slots, first, last)
    assert (told == 2000).any()
    np.testing.assert_array_equal(told, rig.track(first, last))


# Cards of their own


def test_pauses_take_effect_within_what_is_queued(tmp_path: Path) -> None:
    """The figure itself is `python -m tests.audio.stop_latency`; here it must only be bounded."""
    with rig_on(tmp_path) as rig:
        times = stop_latencies_ms(rig, 10)
    print("stop, machine part, ms:", np.percentile(times, [50, 95, 99]))
    assert len(times) >= 5
    assert np.median(times) < 22.5  # 5 to fill a period, 5 until the next, 10 queued, 2 of fade


def test_a_stereo_card_plays_both_channels_and_hears_the_left(tmp_path: Path) -> None:
    with rig_on(tmp_path, channels=2, **DEEP) as rig:
        turn = rig.fresh()
        answer = noise(800)
        rig.say(turn, answer)
        first = rig.wait(PlaybackStarted).index
        assert np.array_equal(rig.track(first, first + 800), answer)
        sound = noise(800, seed=5)
        index = said(rig, sound)
        assert abs(shift_of(joined(rig.mic_slots, index - 100, index + 900), sound, 100)) <= 2


def test_a_card_that_is_pulled_out_and_put_back_is_found_again(tmp_path: Path) -> None:
    with rig_on(tmp_path, **DEEP) as rig:
        turn = rig.fresh()
        rig.say(turn, noise(RATE_HZ))
        rig.wait(PlaybackStarted)
        rig.run(0.1)
        pids = [part.child.pid for part in rig.supervisor.parts.values() if part.child]
        rig.card.unplug()
        for direction in ("capture", "playback"):
            assert '"sim"' in rig.wait(CardLost, direction=direction).problem
        rig.card.set_busy(True)
        rig.card.plug()
        rig.until(lambda: any("in use" in m.problem for m in rig.of(CardLost)), what="busy")
        rig.card.set_busy(False)
        for direction in ("capture", "playback"):
            rig.wait(CardFound, direction=direction)
        assert rig.wait(PlaybackFinished).position == RATE_HZ  # the answer went on
        sound = noise(800)
        index = said(rig, sound)
        assert abs(shift_of(joined(rig.mic_slots, index - 100, index + 900), sound, 100)) <= 2
        assert pids == [part.child.pid for part in rig.supervisor.parts.values() if part.child]


def test_a_missing_card_is_said_once_and_the_processes_wait_for_it(tmp_path: Path) -> None:
    with rig_on(tmp_path, started=False, capture="nobody", playback="nobody") as rig:
        rig.until(lambda: rig.supervisor.is_ready, what="ready")
        lost = rig.wait(CardLost, direction="capture")
        assert lost.problem.startswith('There is no sound card "nobody".')
        rig.wait(CardLost, direction="playback")
        rig.run(1.1)  # two more attempts
        assert len(rig.of(CardLost)) == 2
        assert rig.supervisor.healthy


def test_a_playback_that_is_killed_goes_on_where_it_was(tmp_path: Path) -> None:
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
        assert np.diff(positions).max() - 80 <= 320  # the rest of the slot that it held
