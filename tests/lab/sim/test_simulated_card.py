"""The room's side of the software sound card, without ALSA."""

from __future__ import annotations

import os
import struct
from pathlib import Path

import numpy as np
import pytest

from appliance.errors import CardError
from lab.sim.card_memory_layout import (
    MAX_BUFFER_FRAMES,
    MAX_TAPS,
    REACH_FRAMES,
    RING_FRAMES,
)
from lab.sim.simulated_card import SaidTooLate, SamplesGone, SamplesNotYet, SoundCard

RATE_HZ = 16000
AHEAD = RATE_HZ  # a second, so that a busy machine does not make a test too late


def age(card: SoundCard, seconds: int) -> None:
    """Make the card older by moving its origin into the past."""
    card._card["origin_ns"] -= seconds * 1_000_000_000
    card.origin_ns = int(card._card["origin_ns"])


def play(card: SoundCard, first: int, samples: list[int]) -> None:
    """Write samples as the plugin does when a program plays."""
    for index, sample in enumerate(samples, first):
        lap = index // RING_FRAMES % 65535 + 1
        card._card["loudspeaker"][index % RING_FRAMES] = lap << 16 | sample & 0xFFFF


def near_end(card: SoundCard, first: int, frames: int) -> list[float]:
    """Read the near end as the plugin does."""
    heard = []
    for index in range(first, first + frames):
        slot = card._card["near_end"][index % RING_FRAMES]
        valid = slot["lap"] == index // RING_FRAMES % 65535 + 1
        heard.append(float(slot["sample"]) if valid else 0.0)
    return heard


def test_a_new_card_is_silent_and_has_no_events(card: SoundCard) -> None:
    now = card.now()
    assert not card.loudspeaker(0, now).any()
    assert card.events() == ()
    assert card.rate_hz == RATE_HZ


def test_the_origin_is_a_whole_second_of_the_monotonic_clock(card: SoundCard) -> None:
    """Then an index counted from the zero of the clock differs by whole frames only."""
    assert card.origin_ns % 1_000_000_000 == 0
    assert 0 <= card.now() < 10 * RATE_HZ


@pytest.mark.parametrize("rate_hz", [8000, 11025, 16000, 44100, 48000, 96000])
def test_time_and_index_conversions_are_inverse(tmp_path: Path, rate_hz: int) -> None:
    with SoundCard.create(tmp_path / "card", rate_hz) as card:
        for index in (0, 1, 2, 3, 12345, 10**9 + 7):
            at = card.time_of(index)
            assert card.index_of(at) == index
            assert card.index_of(at - 1) == index - 1


def test_a_card_of_coarse_granularity_moves_in_steps(tmp_path: Path) -> None:
    with SoundCard.create(tmp_path / "card", RATE_HZ, granularity_frames=48) as card:
        assert card.now() % 48 == 0


@pytest.mark.parametrize("rate_hz", [0, 7999, 96001, -1])
def test_an_unsupported_rate_is_refused(tmp_path: Path, rate_hz: int) -> None:
    with pytest.raises(CardError, match="rate"):
        SoundCard.create(tmp_path / "card", rate_hz)


def test_a_negative_fifo_or_zero_granularity_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CardError):
        SoundCard.create(tmp_path / "card", RATE_HZ, input_fifo_frames=-1)
    with pytest.raises(CardError):
        SoundCard.create(tmp_path / "card", RATE_HZ, granularity_frames=0)


def test_only_the_creator_removes_the_file(tmp_path: Path) -> None:
    path = tmp_path / "card"
    with SoundCard.create(path, RATE_HZ):
        with SoundCard(path) as second:
            assert second.rate_hz == RATE_HZ
        assert path.exists()
    assert not path.exists()


def test_closing_twice_is_allowed(tmp_path: Path) -> None:
    card = SoundCard.create(tmp_path / "card", RATE_HZ)
    card.close()
    card.close()


def test_a_file_that_is_not_a_card_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CardError, match="no sound card there"):
        SoundCard(tmp_path / "none")
    (tmp_path / "short").write_bytes(b"SIMCARD1")
    with pytest.raises(CardError, match="too short"):
        SoundCard(tmp_path / "short")
    (tmp_path / "odd").write_bytes(b"")
    os.truncate(tmp_path / "odd", 1 << 30)
    with pytest.raises(CardError, match="not a simcard"):
        SoundCard(tmp_path / "odd")


def test_played_samples_are_read_by_index(card: SoundCard) -> None:
    age(card, 10)
    play(card, 1000, [5, -6, 32767, -32768])
    assert card.loudspeaker(999, 6).tolist() == [0, 5, -6, 32767, -32768, 0]


def test_a_track_is_read_across_the_end_of_the_ring(card: SoundCard) -> None:
    age(card, RING_FRAMES // RATE_HZ + 1)
    play(card, RING_FRAMES - 2, [1, 2, 3, 4])
    assert card.loudspeaker(RING_FRAMES - 3, 6).tolist() == [0, 1, 2, 3, 4, 0]


def test_future_samples_are_refused(card: SoundCard) -> None:
    with pytest.raises(SamplesNotYet):
        card.loudspeaker(card.now() + AHEAD, 1)
    with pytest.raises(SamplesNotYet):
        card.microphone(card.now(), 1)
    with pytest.raises(SamplesNotYet):
        card.loudspeaker(0, -1)


def test_overwritten_samples_are_refused(card: SoundCard) -> None:
    age(card, RING_FRAMES // RATE_HZ)
    with pytest.raises(SamplesGone):
        card.loudspeaker(0, 100)
    with pytest.raises(SamplesGone):
        card.microphone(0, 100)
    with pytest.raises(SamplesGone):
        card.loudspeaker(-5, 5)
    assert len(card.loudspeaker(card.now() - REACH_FRAMES + RATE_HZ, 100)) == 100


def test_an_earlier_lap_reads_as_silence(card: SoundCard) -> None:
    play(card, 1000, [9] * 100)
    age(card, RING_FRAMES // RATE_HZ + 1)
    assert not card.loudspeaker(RING_FRAMES + 900, 300).any()


def test_the_microphone_track_is_final_up_to_the_delivered_samples(card: SoundCard) -> None:
    age(card, 100)
    delivered = card.now() - 80
    card._card["capture_end"] = delivered
    assert card.microphone_end() == delivered
    assert len(card.microphone(delivered - 160, 160)) == 160
    with pytest.raises(SamplesNotYet, match="microphone_end"):
        card.microphone(delivered - 160, 161)


def test_without_a_capture_stream_the_microphone_is_final_up_to_a_buffer_ago(
    card: SoundCard,
) -> None:
    age(card, 100)
    assert card.now() - MAX_BUFFER_FRAMES - RATE_HZ < card.microphone_end() < card.now()


def test_sounds_are_added_without_clipping(card: SoundCard) -> None:
    """The sum is clipped only at the microphone, since a third sound may cancel it."""
    at = card.now() + AHEAD
    card.add_sound(at, np.array([30000, 1], np.int16))
    card.add_sound(at, np.array([30000], np.int16))
    card.add_sound(at, np.array([-30000], np.int16))
    assert near_end(card, at - 1, 4) == [0, 30000, 1, 0]


def test_a_sound_replaces_samples_of_an_older_lap(card: SoundCard) -> None:
    at = card.now() + AHEAD
    card.add_sound(at, np.full(10, 500, np.int16))
    age(card, RING_FRAMES // RATE_HZ)
    later = at + RING_FRAMES // RATE_HZ * RATE_HZ - 5
    card.add_sound(later, np.full(20, 7, np.int16))
    assert near_end(card, later, 20) == [7] * 20


def test_a_sound_is_written_across_the_end_of_the_ring(card: SoundCard) -> None:
    age(card, RING_FRAMES // RATE_HZ - 5)
    card.add_sound(RING_FRAMES - 2, np.array([1, 2, 3, 4], np.int16))
    assert near_end(card, RING_FRAMES - 3, 6) == [0, 1, 2, 3, 4, 0]


def test_a_sound_in_the_past_is_refused(card: SoundCard) -> None:
    with pytest.raises(SaidTooLate):
        card.add_sound(card.now() - 1, np.ones(10, np.int16))


def test_a_sound_beyond_the_ring_is_refused(card: SoundCard) -> None:
    with pytest.raises(CardError, match="in parts"):
        card.add_sound(card.now() + REACH_FRAMES, np.ones(RATE_HZ, np.int16))


def test_a_sound_that_is_not_mono_int16_is_refused(card: SoundCard) -> None:
    at = card.now() + AHEAD
    with pytest.raises(CardError, match="int16"):
        card.add_sound(at, np.ones(10, np.float32))
    with pytest.raises(CardError, match="mono"):
        card.add_sound(at, np.ones((10, 2), np.int16))


def test_remove_sounds_removes_future_sounds(card: SoundCard) -> None:
    at = card.now() + AHEAD
    card.add_sound(at, np.full(10, 5, np.int16))
    card.remove_sounds(at + 4)
    assert near_end(card, at, 10) == [5.0] * 4 + [0.0] * 6
    card.add_sound(at, np.full(10, 1, np.int16))
    assert near_end(card, at, 10) == [6.0] * 4 + [1.0] * 6
    card.remove_sounds()
    assert near_end(card, at, 10) == [0.0] * 10


def test_an_echo_path_has_a_checksum_of_its_words(card: SoundCard) -> None:
    card.set_echo([0.5, -0.25], 40, gain=2.0, drive=0.5)
    path = card._card["path"]
    words = struct.unpack("<6I", struct.pack("<iiffff", 2, 40, 2.0, 0.5, 0.5, -0.25))
    assert int(path["serial"]) == 1
    assert int(path["checksum"]) == (1 + sum(words)) % 2**32
    card.set_echo(None)
    assert (int(path["serial"]), int(path["taps"])) == (2, 0)


@pytest.mark.parametrize("response", [np.zeros(MAX_TAPS + 1), np.zeros((2, 2)), [np.nan], [np.inf]])
def test_an_impossible_impulse_response_is_refused(card: SoundCard, response: np.ndarray) -> None:
    with pytest.raises(CardError, match="impulse response"):
        card.set_echo(response)


def test_an_impossible_delay_gain_or_drive_is_refused(card: SoundCard) -> None:
    for delay, gain, drive in ((-1, 1, 0), (MAX_BUFFER_FRAMES, 1, 0), (0, -1, 0), (0, 1, -1)):
        with pytest.raises(CardError, match="out of range"):
            card.set_echo([1.0], delay, gain=gain, drive=drive)


def test_unplugging_silences_queued_samples(card: SoundCard) -> None:
    age(card, 10)
    end = card.now() + AHEAD
    play(card, card.now() - 100, [3] * (end - card.now() + 100))
    card._card["play_end"] = end
    gone = card.unplug()
    age(card, 10)
    assert (card.loudspeaker(gone - 50, 50) == 3).all()
    assert not card.loudspeaker(gone, end - gone).any()


def test_unplugging_and_plugging_twice_are_allowed(card: SoundCard) -> None:
    serial = card._card["plug_serial"]
    card.unplug()
    card.unplug()
    assert serial == 1
    card.plug()
    card.plug()
    assert serial == 2
