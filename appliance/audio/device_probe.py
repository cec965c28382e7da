"""Probes the card: opens it for a few seconds, as the box does, and measures it.

In: the card's settings. Out: one `DeviceProbe` with the microphone's level and the skew of the two
clocks. It plays silence.
"""

from __future__ import annotations

import math
import select
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from appliance.audio.alsa import AlsaStream, open_stream
from appliance.audio.card_clock import Pair
from appliance.audio.cards import device
from appliance.pcm import FULL_SCALE
from appliance.settings import CardSettings

SECONDS = 4.0  # a linear fit to that many readings has an error of about 20 ppm on a USB card
SILENT_DBFS = -120.0  # reported when all samples are equal
_MIN_READINGS = 20  # readings for the linear fit
_SETTLE_S = 0.25  # discarded: the switch-on transient of the microphone


@dataclass(frozen=True)
class DeviceProbe:
    """Measurements of a card.

    rate_hz        of microphone and loudspeaker
    noise_dbfs     RMS of the microphone without its mean; −120 when all samples are equal
    peak_dbfs      magnitude of the largest sample
    skew_ppm       how much faster the microphone's clock runs than the loudspeaker's
    uncertain_ppm  standard error of `skew_ppm`; both are None after too few readings
    dropouts       of both directions together
    """

    rate_hz: tuple[int, int]
    noise_dbfs: float
    peak_dbfs: float
    skew_ppm: float | None
    uncertain_ppm: float | None
    dropouts: int


def try_card(card: CardSettings, seconds: float = SECONDS) -> DeviceProbe:
    """Capture and play silence for `seconds`. Raises CardError when the card cannot be opened."""
    with open_both(card) as (mic, speaker):
        captured, mic_pairs, speaker_pairs, dropouts = measure(mic, speaker, seconds)
        skew, uncertain = skew_ppm(mic_pairs, speaker_pairs, mic.rate_hz, speaker.rate_hz)
        noise, peak = levels(captured[int(_SETTLE_S * mic.rate_hz) :])
        return DeviceProbe((mic.rate_hz, speaker.rate_hz), noise, peak, skew, uncertain, dropouts)


@contextmanager
def open_both(card: CardSettings) -> Iterator[tuple[AlsaStream, AlsaStream]]:
    """The microphone and the loudspeaker. Raises CardError when one cannot be opened."""
    mic_name, speaker_name = device(card, "capture"), device(card, "playback")
    with (
        open_stream(
            mic_name, "capture", period_ms=card.period_ms, periods=card.periods,
            rate_hz=card.rate_hz, channels=card.channels,
        ) as mic,
        open_stream(
            speaker_name, "playback", period_ms=card.period_ms, periods=card.periods + 4,
            rate_hz=card.rate_hz, channels=card.channels,
        ) as speaker,
    ):  # fmt: skip
        yield mic, speaker


def levels(samples: np.ndarray[tuple[int], np.dtype[np.int16]]) -> tuple[float, float]:
    """RMS without the mean, and peak magnitude, in dBFS."""
    if not len(samples):
        return SILENT_DBFS, SILENT_DBFS
    values = samples.astype(np.float64)
    return _dbfs(float(values.std())), _dbfs(float(np.abs(values).max()))


def skew_ppm(
    mic: Sequence[Pair], speaker: Sequence[Pair], mic_hz: int, speaker_hz: int
) -> tuple[float | None, float | None]:
    """How much faster `mic` counts than `speaker`, and the standard error of that, in ppm."""
    if min(len(mic), len(speaker)) < _MIN_READINGS:
        return None, None
    (mic_speed, mic_error), (speaker_speed, speaker_error) = _rate(mic), _rate(speaker)
    skew = (mic_speed / mic_hz) / (speaker_speed / speaker_hz) - 1.0
    error = math.hypot(mic_error / mic_speed, speaker_error / speaker_speed)
    return skew * 1e6, error * 1e6


def measure(
    mic: AlsaStream, speaker: AlsaStream, seconds: float
) -> tuple[np.ndarray[tuple[int], np.dtype[np.int16]], list[Pair], list[Pair], int]:
    """Run both streams. A dropout restarts that stream and clears its readings."""
    poller = select.poll()
    mic.register(poller)
    silence = np.zeros(speaker.period_frames, np.int16)
    pairs: dict[str, list[Pair]] = {"capture": [], "playback": []}
    captured = [np.zeros(0, np.int16)]
    dropouts = 0
    mic.start()
    speaker.start()
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        poller.poll(20)
        for stream in (mic, speaker):
            pair = stream.clock_pair()
            if pair is None:
                dropouts += 1
                stream.start()
                pairs[stream.direction].clear()
            else:
                pairs[stream.direction].append(pair)
        while mic.avail() >= mic.period_frames:
            block = mic.read()
            if block is None or not len(block):
                break
            captured.append(block)
        while speaker.avail() >= speaker.period_frames:
            if speaker.write(silence) <= 0:
                break
    return np.concatenate(captured), pairs["capture"], pairs["playback"], dropouts


def _rate(pairs: Sequence[Pair]) -> tuple[float, float]:
    """Frames per second by a linear fit to the readings, and its standard error."""
    origin_ns = pairs[0][0]
    seconds = np.array([(ns - origin_ns) / 1e9 for ns, _ in pairs])
    frames = np.array([float(count) for _, count in pairs])
    centred = seconds - seconds.mean()
    speed = float((centred @ frames) / (centred @ centred))
    residual = frames - frames.mean() - speed * centred
    error = math.sqrt(float(residual @ residual) / (len(pairs) - 2) / float(centred @ centred))
    return speed, error


def _dbfs(value: float) -> float:
    return max(SILENT_DBFS, 20 * math.log10(value / FULL_SCALE)) if value > 0 else SILENT_DBFS
