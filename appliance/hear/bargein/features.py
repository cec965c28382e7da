"""Computes the input of the verdict's network: spectrum, pitch, loudness and time every 10 ms.

In: int16 sound from before the onset on, and the measures of `AudioBlock` and `Segment`. Out:
float32 rows of `WIDTH`. Causal: a row depends on nothing after its own end. Training uses these
functions, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from appliance.pcm import RATE_HZ, Samples

Floats = npt.NDArray[np.float32]

HOP_FRAMES = 160
WINDOW_FRAMES = 512  # 32 ms: two and a half periods of the lowest voice
BANDS = 40
PAST_MS = 140  # of sound before the onset, which shows the room's noise and the echo
GIVEN_MS = 300  # of sound before the onset that a classifier gets; only PAST_MS of it are used
_LOWEST_HZ, _HIGHEST_HZ = 60.0, 7600.0
_VOICE_HZ = 1000.0  # the pitch is computed below it; higher frequencies show little of it
_LONGEST, _SHORTEST = RATE_HZ // 75, RATE_HZ // 420  # periods of a voice, in samples
_VOICED = 0.45  # peak of the autocorrelation from which a row has a pitch
_DECAY_DB = 0.3  # of the peak, a row: forgets loud sound before the onset within a word or two
_FAINTEST_DB = -85.0  # lowest peak

BAND_COLUMNS = slice(0, BANDS)
VOICING, PITCH, BEND, LOUDNESS, STANDS_OUT, SPEECH, LOUDER, QUIET, AGE, JUDGED = range(
    BANDS, BANDS + 10
)
WIDTH = BANDS + 10


class BlockMeasures(NamedTuple):
    """Measures of one block: dB full scale above 120 Hz, the noise floor, probability of speech, dB
    above the owner's usual level (0: unknown), and the time since the last sound."""

    energy_db: float
    floor_db: float
    probability: float
    louder_db: float
    quiet_ms: float


def _mel(hz: float) -> float:
    return float(1127.0 * np.log(1.0 + hz / 700.0))


def _bands() -> Floats:
    """Triangular mel bands (257, 40), each with the sum 1."""
    edges = np.linspace(_mel(_LOWEST_HZ), _mel(_HIGHEST_HZ), BANDS + 2)
    edges_hz = 700.0 * (np.exp(edges / 1127.0) - 1.0)
    hz = np.fft.rfftfreq(WINDOW_FRAMES, 1 / RATE_HZ)[:, None]
    up = (hz - edges_hz[:-2]) / (edges_hz[1:-1] - edges_hz[:-2])
    down = (edges_hz[2:] - hz) / (edges_hz[2:] - edges_hz[1:-1])
    weights = np.maximum(0.0, np.minimum(up, down))
    # The lowest bands are narrower than a bin: each gets the bin nearest to its centre.
    for band in np.flatnonzero(weights.sum(axis=0) == 0):
        weights[np.argmin(np.abs(hz[:, 0] - edges_hz[band + 1])), band] = 1.0
    return np.asarray(weights / weights.sum(axis=0), np.float32)


_UNIT = np.float32(1 / 32768)
_WINDOW = np.hanning(WINDOW_FRAMES + 1)[:-1].astype(np.float32)
_BANDS = _bands()
_POWER = float(np.sum(_WINDOW.astype(np.float64) ** 2)) * WINDOW_FRAMES / 2
_LOW_BINS = int(_VOICE_HZ * WINDOW_FRAMES / RATE_HZ) + 1


def _own_correlation() -> Floats:
    """The window's autocorrelation, by which that of a pure tone decreases with the lag."""
    power = np.abs(np.fft.rfft(_WINDOW, 2 * WINDOW_FRAMES)) ** 2
    own = np.fft.irfft(power)[: _LONGEST + 2]
    return np.asarray(own / own[0], np.float32)


_OWN = _own_correlation()


def band_features(windows: Floats) -> tuple[Floats, Floats, Floats]:
    """Bands in dB (n, 40), voicing 0 to 1 and log2(pitch / 150 Hz) of windows, float32 (n, 512)."""
    spectrum = np.fft.rfft(windows * _WINDOW, axis=1)
    power = np.square(spectrum.real) + np.square(spectrum.imag)
    bands_db = 10 * np.log10(power.astype(np.float32) @ _BANDS / _POWER + 1e-10)
    low = np.zeros_like(power)
    low[:, 2:_LOW_BINS] = power[:, 2:_LOW_BINS]
    correlation = np.fft.irfft(low, axis=1)
    usable = correlation[:, _SHORTEST : _LONGEST + 1] / (
        _OWN[_SHORTEST : _LONGEST + 1] * (correlation[:, :1] + 1e-9)
    )
    best = np.argmax(usable, axis=1)
    voicing = np.clip(usable[np.arange(len(usable)), best], 0.0, 1.0)
    pitch = np.log2(RATE_HZ / (best + _SHORTEST) / 150.0)
    return bands_db.astype(np.float32), voicing.astype(np.float32), pitch.astype(np.float32)


class FeatureExtractor:
    """Computes the rows of one segment while its sound arrives."""

    def __init__(self) -> None:
        self.start(np.zeros(0, np.int16))

    def start(self, past: Samples) -> None:
        """Start a segment; `past` starts 300 ms before its onset."""
        past = past[(GIVEN_MS - PAST_MS) * RATE_HZ // 1000 :]
        self._unread = np.zeros(WINDOW_FRAMES - HOP_FRAMES + len(past), np.float32)
        self._unread[WINDOW_FRAMES - HOP_FRAMES :] = past
        self._pending: list[Samples] = []
        self._measures: list[BlockMeasures] = []
        self._first_measured = len(past)  # frames from the start of `past` on
        self._rows = 0
        self._peak_db = _FAINTEST_DB
        self._pitch = 0.0
        self._voiced = False

    def push(self, samples: Samples, measures: BlockMeasures) -> None:
        """Add the next block and its measures."""
        self._pending.append(samples)
        self._measures.append(measures)

    def pop_rows(self, multiple: int = 1) -> Floats:
        """Remove and return the complete rows, in a number that is a multiple of `multiple`."""
        unread = np.concatenate([self._unread, *self._pending])
        self._pending = []
        count = max(0, (len(unread) - WINDOW_FRAMES) // HOP_FRAMES + 1) // multiple * multiple
        rows = np.zeros((count, WIDTH), np.float32)
        if count:
            views = np.lib.stride_tricks.sliding_window_view(unread, WINDOW_FRAMES)
            self._fill(rows, views[: count * HOP_FRAMES : HOP_FRAMES] * _UNIT)
        self._unread = unread[count * HOP_FRAMES :].astype(np.float32)
        self._rows += count
        return rows

    def _fill(self, rows: Floats, windows: Floats) -> None:
        bands_db, voicing, pitch = band_features(windows)
        loudness_db = 10 * np.log10(np.mean(10 ** (bands_db / 10), axis=1))
        peaks_db = np.empty(len(rows), np.float32)
        for i, db in enumerate(loudness_db):
            self._peak_db = max(float(db), self._peak_db - _DECAY_DB, _FAINTEST_DB)
            peaks_db[i] = self._peak_db
        rows[:, BAND_COLUMNS] = np.clip((bands_db - peaks_db[:, None]) / 20 + 1, -2, 1.5)
        rows[:, VOICING] = voicing
        rows[:, LOUDNESS] = np.clip((loudness_db - peaks_db) / 20 + 1, -2, 1)
        voiced = voicing > _VOICED
        rows[:, PITCH] = pitch * voiced
        before = np.concatenate([[self._pitch], pitch[:-1]])
        both = voiced & np.concatenate([[self._voiced], voiced[:-1]])
        rows[:, BEND] = np.clip((pitch - before) * 4, -1, 1) * both
        self._pitch, self._voiced = float(pitch[-1]), bool(voiced[-1])
        row_numbers = self._rows + np.arange(len(rows))
        rows[:, AGE] = (row_numbers - PAST_MS // 10) / 70.0
        self._fill_measures(rows, (row_numbers + 1) * HOP_FRAMES)

    def _fill_measures(self, rows: Floats, ends: npt.NDArray[np.int_]) -> None:
        """Fill in the blocks' measures, in the rows that end after the first block."""
        measures = np.asarray(self._measures, np.float32).reshape(-1, 5)
        blocks = (ends - self._first_measured) // (HOP_FRAMES // 2) - 1
        covered = (blocks >= 0) & (blocks < len(measures))
        rows[covered] = with_measures(rows[covered], measures[blocks[covered]])


def with_measures(rows: Floats, measures: Floats) -> Floats:
    """Write the measures (n, 5) of each row's last block into its columns, and return `rows`."""
    rows[:, STANDS_OUT] = np.clip((measures[:, 0] - measures[:, 1] - 15) / 15, -2, 3)
    rows[:, SPEECH] = measures[:, 2]
    rows[:, LOUDER] = np.clip(measures[:, 3] / 10, -2, 2)
    rows[:, QUIET] = np.clip(measures[:, 4] / 300, 0, 2)
    rows[:, JUDGED] = 1.0
    return rows


def all_rows(past: Samples, later: Sequence[Samples], measures: Sequence[BlockMeasures]) -> Floats:
    """All rows of a segment at once, for training and enrolment."""
    features = FeatureExtractor()
    features.start(past)
    for samples, measure in zip(later, measures, strict=True):
        features.push(samples, measure)
    return features.pop_rows()
