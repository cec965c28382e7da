"""The end of a sound that was judged is covered; a sound as loud as it is a new one."""

from __future__ import annotations

from appliance.hear.onset.sound_tail import SoundTail

PEAK_DB = -20.0
HOLD = 40  # blocks


def test_nothing_is_covered_before_any_verdict() -> None:
    assert not SoundTail().covers(-99.0)


def test_after_a_voice_its_soft_parts_are_covered_for_200_ms() -> None:
    tail = SoundTail()
    tail.start(PEAK_DB, voice=True, ended=True)
    assert all(tail.covers(PEAK_DB - 14) for _ in range(HOLD))
    tail.start(PEAK_DB, voice=True, ended=True)
    assert not any(tail.covers(PEAK_DB - 12) for _ in range(HOLD))


def test_after_a_noise_only_its_reverberation_is_covered() -> None:
    tail = SoundTail()
    tail.start(PEAK_DB, voice=False, ended=True)
    assert tail.covers(PEAK_DB - 26)
    assert not tail.covers(PEAK_DB - 24)


def test_a_sound_that_goes_on_is_covered_up_to_its_peak_for_400_ms() -> None:
    tail = SoundTail()
    tail.start(PEAK_DB, voice=True, ended=False)
    assert all(tail.covers(PEAK_DB + 2) for _ in range(2 * HOLD))
    assert tail.covers(PEAK_DB + 2)  # the block that ends it
    assert not tail.covers(PEAK_DB + 2)
    assert tail.covers(PEAK_DB - 14)


def test_what_is_covered_falls_to_silence_within_a_second() -> None:
    tail = SoundTail()
    tail.start(PEAK_DB, voice=True, ended=True)
    blocks = next(n for n in range(400) if not tail.covers(-70.0))
    assert HOLD < blocks < 200
