"""Measures seams: the effect of a pause and a resume on the answer, in the loudspeaker's track."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from appliance.pcm import Samples

RAMP = 400  # samples left out on either side, 25 ms, since the fades change them
MATCH = 1600  # samples compared with the answer on either side, 100 ms
SEARCH = 4000  # largest lag that is searched, in samples, in either direction


@dataclass(frozen=True)
class Seam:
    """Samples of the answer lost or repeated, and the largest step across the seam's two edges.

    `again_samples`: repeated on purpose, by a rewind; not part of `repeated_samples`.

    `max_step` is the difference of neighbouring samples, in units of int16, where sound turns to
    silence and back. Without fades it would be as large as the sound is there, a click.
    """

    lost_samples: int
    repeated_samples: int
    max_step: int
    again_samples: int = 0


def measure_seam(
    track: Samples, answer: Samples, paused: int, resumed: int, position: int, again: int = 0
) -> Seam | None:
    """Compare both sides of a pause with the answer's samples.

    `track`: the loudspeaker, silent from sample `paused` to `resumed`. `position`: an estimate of
    the answer's sample that was due at the pause; the exact lag of each side is searched. `again`:
    samples before it that the rewind repeats. None if one side has too little sound to compare.
    """
    before = _lag(track, answer, paused - RAMP - MATCH, position - RAMP - MATCH)
    after = _lag(track, answer, resumed + RAMP, position - again + RAMP)
    if before is None or after is None:
        return None
    # < 0: the answer advanced while the loudspeaker was silent
    drift = (after - before) - (resumed - paused) - again
    edges = [track[paused - 2 : paused + 2], track[resumed - 2 : resumed + 2]]
    step = max(int(np.max(np.abs(np.diff(e.astype(np.int32))), initial=0)) for e in edges)
    return Seam(max(0, -drift), max(0, drift), step, again)


def _lag(track: Samples, answer: Samples, at: int, position: int) -> int | None:
    """The lag (track index - answer position) at which 100 ms of the track from `at` on match the
    answer; None if there is no match."""
    piece = track[max(0, at) : max(0, at) + MATCH].astype(np.float64)
    low = max(0, position - SEARCH)
    region = answer[low : position + MATCH + SEARCH].astype(np.float64)
    if len(piece) < MATCH or len(region) < MATCH or np.sqrt(np.mean(piece**2)) < 30:
        return None
    products = _correlate(region, piece)
    energy = np.convolve(region**2, np.ones(MATCH), "valid")
    score = products / np.sqrt(np.maximum(energy, 1.0) * np.sum(piece**2))
    best = int(np.argmax(score))
    return at - (low + best) if score[best] > 0.99 else None


def _correlate(
    region: npt.NDArray[np.float64], piece: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    size = 1 << (len(region) + len(piece)).bit_length()
    spectrum = np.fft.rfft(region, size) * np.conj(np.fft.rfft(piece, size))
    correlation: npt.NDArray[np.float64] = np.fft.irfft(spectrum, size)[
        : len(region) - len(piece) + 1
    ]
    return correlation
