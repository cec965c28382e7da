"""Seams: what a pause and a resume did to the answer, read off the loudspeaker's track alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from appliance.pcm import Samples

RAMP = 400  # samples left out on either side, 25 ms: the fades change them on purpose
MATCH = 1600  # samples compared with the answer on either side, 100 ms
SEARCH = 4000  # samples of lag searched either way


@dataclass(frozen=True)
class Seam:
    """Samples of the answer lost or repeated, and the largest step across the seam's two edges.

    `again_samples` were meant to be repeated, and were: a last word that is said again is no loss.

    The step is between neighbours, in units of int16: from sound to silence and back. Without
    fades it is as large as the sound happens to be there, and clicks.
    """

    lost_samples: int
    repeated_samples: int
    max_step: int
    again_samples: int = 0


def measure_seam(
    track: Samples, answer: Samples, paused: int, resumed: int, position: int, again: int = 0
) -> Seam | None:
    """Compare both sides of a pause with the answer that was meant to sound.

    `track` is the loudspeaker; it fell silent at sample `paused` and sounds again from `resumed`;
    `position` is a guess of the answer's sample that was due (it need not be right: the lag of
    each side is searched); `again` samples before it were to be said again. None when there is too
    little sound on one side to tell.
    """
    before = _lag(track, answer, paused - RAMP - MATCH, position - RAMP - MATCH)
    after = _lag(track, answer, resumed + RAMP, position - again + RAMP)
    if before is None or after is None:
        return None
    # < 0: the answer went on while it was silent
    drift = (after - before) - (resumed - paused) - again
    edges = [track[paused - 2 : paused + 2], track[resumed - 2 : resumed + 2]]
    step = max(int(np.max(np.abs(np.diff(e.astype(np.int32))), initial=0)) for e in edges)
    return Seam(max(0, -drift), max(0, drift), step, again)


def _lag(track: Samples, answer: Samples, at: int, position: int) -> int | None:
    """The lag (track index - answer position) at which 100 ms of the track from `at` on match."""
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
    found: npt.NDArray[np.float64] = np.fft.irfft(spectrum, size)[: len(region) - len(piece) + 1]
    return found
