"""The Kalman canceller converges quickly, ignores near speech and detects another room."""

from __future__ import annotations

import copy
import functools
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pytest

from appliance.hear.aec.kalman import KalmanCanceller
from appliance.hear.onset.frontend import clipped
from appliance.pcm import RATE_HZ, Samples, from_float, to_int16
from appliance.voice.chime import chime
from tests.hear.arena import ANSWER, at_level, impulse_response, say

Wave = npt.NDArray[np.float64]


def kalman() -> KalmanCanceller:
    return KalmanCanceller(tail_ms=200, frames=80, rate_hz=RATE_HZ)


def answer(seconds: int) -> Samples:
    return from_float(at_level(np.resize(say(ANSWER), seconds * RATE_HZ), -20))


def echo_of(played: Samples, room: Wave) -> Wave:
    size = 1 << (len(played) + len(room)).bit_length()
    wet = np.fft.irfft(np.fft.rfft(played, size) * np.fft.rfft(room, size), size)
    return np.asarray(wet[: len(played)])


def room(seed: int, gain: float = 0.3) -> Wave:
    return gain * impulse_response(seed, rt60_s=0.25)


def left_of(echo: KalmanCanceller, mic: Wave, played: Samples) -> Wave:
    heard = to_int16(mic)
    blocks = [
        echo.cancel_echo(m, p, clipped(m))
        for m, p in zip(heard.reshape(-1, 80), played.reshape(-1, 80), strict=True)
    ]
    return np.concatenate(blocks).astype(float)


def taken_db(mic: Wave, left: Wave, from_s: float, to_s: float) -> float:
    span = slice(int(from_s * RATE_HZ), int(to_s * RATE_HZ))
    return float(10 * np.log10(np.sum(mic[span] ** 2) / np.sum(left[span] ** 2)))


def test_an_echo_is_reduced_by_20_db_within_two_seconds() -> None:
    played = answer(4)
    mic = echo_of(played, room(1))
    assert taken_db(mic, left_of(kalman(), mic, played), 2, 4) > 20


@pytest.mark.parametrize("mic_off_passed", [True, False])
@pytest.mark.long
def test_a_muted_microphone_keeps_the_echo_path_if_mic_off_is_passed(mic_off_passed: bool) -> None:
    """Zeros that the canceller takes for sound would mean that the echo is gone."""
    played = answer(11)
    mic = echo_of(played, room(1))
    heard = to_int16(mic).reshape(-1, 80)
    echo, left = kalman(), []
    for number, (m, p) in enumerate(zip(heard, played.reshape(-1, 80), strict=True)):
        off = 4 <= number * 80 / RATE_HZ < 10
        left.append(echo.cancel_echo(0 * m if off else m, p, mic_off=off and mic_off_passed))
        assert not (off and mic_off_passed and left[-1].any())
    afterwards_db = taken_db(mic, np.concatenate(left).astype(float), 10, 10.3)
    assert (afterwards_db > 20) == mic_off_passed
    assert (echo.path_changes == 0) == mic_off_passed


@pytest.mark.long
def test_near_speech_does_not_degrade_the_echo_path() -> None:
    played = answer(10)
    echo = echo_of(played, room(2))
    owner = np.zeros(len(echo))
    owner[6 * RATE_HZ :] = 32768 * at_level(np.resize(say("what about the sea", "en-gb+f3"),
                                                      4 * RATE_HZ), -26)  # fmt: skip
    left = left_of(kalman(), echo + owner, played)
    assert taken_db(echo, left - owner, 7, 10) > 18


def test_the_microphone_passes_unchanged_while_nothing_was_played() -> None:
    echo = kalman()
    mic = np.arange(80, dtype=np.int16)
    for _ in range(100):
        assert echo.cancel_echo(mic, np.zeros(80, np.int16)) is mic
    assert not echo.active


@pytest.mark.long
def test_another_room_is_detected_and_learned_within_three_seconds() -> None:
    played = answer(11)
    mic = echo_of(played, room(3))
    mic[6 * RATE_HZ :] = echo_of(played, room(4))[6 * RATE_HZ :]
    echo = kalman()
    left = left_of(echo, mic, played)
    assert echo.path_changes >= 1
    assert taken_db(mic, left, 5, 6) > 20
    assert taken_db(mic, left, 9, 11) > 20


ON, OFF, SOFT, ZEROS = 1.0, 0.0, 0.01, -1.0  # gain of the echo; ZEROS: no room noise either
Past = tuple[tuple[int, float], ...]  # seconds of each gain


@functools.cache
def half_a_minute() -> tuple[Samples, Wave, Wave]:
    """What is played, its echo in a room, and the noise of the room."""
    played = answer(34)
    return played, echo_of(played, room(1)), np.random.default_rng(0).normal(0, 10, len(played))


def left_at(echo: KalmanCanceller, from_s: int, seconds: int, gain: float) -> tuple[Wave, Wave]:
    """The microphone's sound of these seconds, and what the canceller leaves of it."""
    span = slice(from_s * RATE_HZ, (from_s + seconds) * RATE_HZ)
    played, wet, noise = half_a_minute()
    mic = np.zeros(len(wet[span])) if gain < 0 else wet[span] * gain + noise[span]
    return mic, left_of(echo, mic, played[span])


@functools.cache
def after(past: Past) -> KalmanCanceller:
    """A canceller with this past, to be copied: tests whose pasts begin alike share it."""
    if not past:
        return kalman()
    echo = copy.deepcopy(after(past[:-1]))
    left_at(echo, sum(seconds for seconds, _ in past[:-1]), *past[-1])
    return echo


@pytest.mark.parametrize(
    "past",
    [
        ((3, OFF),), ((3, OFF), (2, OFF)), ((3, OFF), (2, OFF), (5, OFF)),
        ((10, SOFT),), ((10, ZEROS),), ((8, ON), (20, OFF)), ((8, ON), (20, ZEROS)),
    ],
)  # fmt: skip
@pytest.mark.long
def test_an_echo_that_returns_is_found_within_three_seconds(past: Past) -> None:
    """The amplifier was off, its volume at zero, or the card muted by a key of its own."""
    mic, left = left_at(copy.deepcopy(after(past)), sum(seconds for seconds, _ in past), 5, ON)
    assert taken_db(mic, left, 3, 5) > 20


@functools.cache
def without_echo() -> tuple[KalmanCanceller, Wave]:
    """A canceller that was 20 s in a room without an echo, to be copied, and what it left."""
    echo = kalman()
    noise = np.random.default_rng(0).normal(0, 10, 40 * RATE_HZ)[: 20 * RATE_HZ]
    return echo, left_of(echo, noise, answer(40)[: 20 * RATE_HZ])


@pytest.mark.parametrize("spoken_over", [False, True])
@pytest.mark.long
def test_without_an_echo_none_is_found_even_under_near_speech(spoken_over: bool) -> None:
    mic = np.random.default_rng(0).normal(0, 10, 40 * RATE_HZ)
    if spoken_over:
        owner = np.resize(say("wait a moment, what about the sea", "en-gb+f3"), 10 * RATE_HZ)
        mic[20 * RATE_HZ : 30 * RATE_HZ] += 32768 * at_level(owner, -26)
    echo, before = copy.deepcopy(without_echo())
    later = left_of(echo, mic[20 * RATE_HZ :], answer(40)[20 * RATE_HZ :])
    left = np.concatenate([before, later])
    assert echo.path_changes == 0
    assert abs(taken_db(mic, left, 20, 30)) < 0.5
    assert abs(taken_db(mic, left, 32, 40)) < 0.5


@pytest.mark.long
def test_a_restored_response_that_removes_nothing_is_discarded() -> None:
    played = answer(8)
    mic = echo_of(played, room(1))
    echo = kalman()
    echo.restore(1e-4 * left_noise(echo))
    assert taken_db(mic, left_of(echo, mic, played), 5, 8) > 20
    assert echo.helps


def left_noise(echo: KalmanCanceller) -> npt.NDArray[np.float32]:
    """Noise as long as a response and unrelated to any room."""
    return np.random.default_rng(1).normal(0, 1, len(echo.taps)).astype(np.float32)


@pytest.mark.long
def test_an_unchanged_room_is_never_reported_as_a_path_change() -> None:
    played = answer(10)
    echo = kalman()
    left_of(echo, echo_of(played, room(5)), played)
    assert echo.path_changes == 0


@pytest.mark.long
def test_a_restored_response_works_from_the_first_second() -> None:
    played = answer(6)
    mic = echo_of(played, room(6))
    first = kalman()
    left_of(first, mic, played)
    second = kalman()
    second.restore(first.taps)
    assert taken_db(mic, left_of(second, mic, played), 0, 1) > 20


def test_a_response_of_another_length_is_refused() -> None:
    with pytest.raises(ValueError, match="3200 taps"):
        kalman().restore(np.zeros(100, np.float32))


@pytest.mark.long
def test_an_echo_that_clips_the_microphone_is_still_reduced() -> None:
    played = answer(6)
    mic = echo_of(played, room(7, gain=4.0))
    assert np.mean(np.abs(mic) > 32768) > 0.01
    heard = np.clip(mic, -32768, 32767)
    assert taken_db(heard, left_of(kalman(), heard, played), 3, 6) > 20


@pytest.mark.long
def test_near_speech_over_a_clipping_echo_is_preserved() -> None:
    played = answer(6)
    owner = np.zeros(len(played))
    owner[4 * RATE_HZ :] = 32768 * at_level(np.resize(say("what about the sea", "en-gb+f3"),
                                                      2 * RATE_HZ), -20)  # fmt: skip
    heard = np.clip(echo_of(played, room(7, gain=4.0)) + owner, -32768, 32767)
    left = left_of(kalman(), heard, played)
    assert taken_db(owner, left, 4, 6) < 1


@pytest.mark.parametrize(("gain", "knows"), [(0.3, True), (0.003, False)])
def test_the_canceller_knows_only_an_echo_that_is_loud_enough(gain: float, knows: bool) -> None:
    played = answer(6)
    echo = kalman()
    left_of(echo, echo_of(played, room(8, gain)), played)
    assert echo.converged
    assert echo.knows_echo == knows


def test_full_scale_square_waves_keep_the_taps_finite() -> None:
    echo = kalman()
    square = np.where(np.arange(80) < 40, 32767, -32768).astype(np.int16)
    for _ in range(400):
        left = echo.cancel_echo(square, square)
    assert left.dtype == np.int16
    assert np.isfinite(echo.taps).all()


class Announced(NamedTuple):
    """A chime and a sentence in a room that the canceller has not learned; levels of each block."""

    mic: Wave
    left: Wave
    left_db: list[float]
    expected_db: list[float]


@functools.cache
def announced(gain: float) -> Announced:
    played = np.concatenate([chime(), answer(3)])
    played = played[: len(played) // 80 * 80]
    noise = np.random.default_rng(1).normal(0, 16.0, len(played))  # -66 dBFS
    mic = echo_of(played, room(1, gain)) + noise
    echo, left, left_db, expected_db = kalman(), [], [], []
    for m, p in zip(to_int16(mic).reshape(-1, 80), played.reshape(-1, 80), strict=True):
        left.append(echo.cancel_echo(m, p, clipped(m)))
        left_db.append(10 * np.log10(float(np.mean((left[-1] / 32768) ** 2)) + 1e-10))
        expected_db.append(echo.misalignment_db)
    return Announced(mic, np.concatenate(left).astype(float), left_db, expected_db)


@pytest.mark.parametrize("gain", [0.1, 0.3, 1.0, 2.0])
@pytest.mark.long
def test_after_a_chime_the_canceller_does_not_amplify_the_words_that_follow(gain: float) -> None:
    heard = announced(gain)
    words_s = len(chime()) / RATE_HZ
    assert taken_db(heard.mic, heard.left, words_s, words_s + 0.5) > 0
    assert taken_db(heard.mic, heard.left, words_s + 1, words_s + 2) > 10


@pytest.mark.parametrize("gain", [0.03, 0.1, 0.3, 1.0, 2.0])
@pytest.mark.long
def test_the_misalignment_estimate_holds_from_the_first_sound(gain: float) -> None:
    heard = announced(gain)
    over_db = np.array(heard.left_db) - np.maximum(heard.expected_db, -65.0)  # noise included
    assert np.percentile(over_db, 99) < 6
    assert np.percentile(over_db[400:], 90) > -12  # the estimate is not far too high either
