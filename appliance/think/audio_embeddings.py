"""Clips as the model hears them: encoded once, and, while the owner speaks, a piece at a time.

In: clips. Out: soft tokens, each with an identity of its own. The encoder is causal: of a clip's
tokens all but the newest stay what they are, bit for bit, when more sound is added behind them
(tests/think/test_audio_embeddings.py). So the tokens of a clip that has grown keep their
identities, and what the model has read of them stays read.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from appliance.think.context import Rows
from appliance.think.history import SpeechClip

Ids = npt.NDArray[np.int64]  # a token's own number, or a negative one, unique to a row of sound


@dataclass(frozen=True)
class AudioEmbedding:
    """Soft tokens float32[n, width], and their identities, int64[n], all negative."""

    rows: Rows
    ids: Ids


class AudioEmbeddingCache:
    """What clips were encoded to, kept as long as anybody holds the clip."""

    def __init__(self, encode: Callable[[npt.NDArray[np.int16]], Rows]) -> None:
        self._encode = encode
        self._known: WeakKeyDictionary[SpeechClip, AudioEmbedding] = WeakKeyDictionary()
        self._growing: tuple[SpeechClip, AudioEmbedding] | None = (
            None  # the newest of an unfinished utterance
        )
        self._next_id = 1

    def __contains__(self, clip: SpeechClip) -> bool:
        return clip in self._known

    def __getitem__(self, clip: SpeechClip) -> AudioEmbedding:
        """The clip's tokens, if need be by encoding it now. Raises ModelError."""
        if clip not in self._known:
            self._known[clip] = self._grown(clip) or self._fresh(clip)
        return self._known[clip]

    def encode_partial(self, clip: SpeechClip) -> AudioEmbedding:
        """The tokens of a clip that may grow: the next one of its utterance begins with it."""
        encoded = self[clip]
        self._growing = clip, encoded
        return encoded

    def _grown(self, clip: SpeechClip) -> AudioEmbedding | None:
        """From what is known of the same utterance; None if that is something else."""
        if self._growing is None:
            return None
        before, known = self._growing
        heard = len(before.samples)
        if before.utterance != clip.utterance or heard > len(clip.samples):
            return None
        if not np.array_equal(before.samples, clip.samples[:heard]):
            return None
        if heard == len(clip.samples):
            return known
        rows = self._encode(clip.samples)
        kept = len(known.ids) - 1  # its newest token had not heard all of its sound
        return AudioEmbedding(rows, np.append(known.ids[:kept], self._number(len(rows) - kept)))

    def _fresh(self, clip: SpeechClip) -> AudioEmbedding:
        rows = self._encode(clip.samples)
        return AudioEmbedding(rows, self._number(len(rows)))

    def _number(self, count: int) -> Ids:
        first = self._next_id
        self._next_id += count
        return -np.arange(first, first + count, dtype=np.int64)
