"""Caches the soft tokens of clips: each clip is encoded once, or step by step while it grows.

In: clips. Out: soft tokens, each with its own identity. The encoder is causal: when more sound is
appended to a clip, all of its tokens but the newest keep their values
(tests/think/test_audio_embeddings.py). So the tokens of a clip that has grown keep their
identities, and the model need not read them again. An encoder that keeps its state continues
from there.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from appliance.think.context import Rows
from appliance.think.encoded_sound import EncodedSound
from appliance.think.history import SpeechClip

Ids = npt.NDArray[np.int64]  # a text token's number, or a unique negative number for a soft token


class EncodeSound(Protocol):
    """The function that encodes a clip; see SoundEncoder.encode."""

    def __call__(
        self, samples: npt.NDArray[np.int16], prefix: EncodedSound | None = None, *, whole: bool
    ) -> EncodedSound: ...


@dataclass(frozen=True)
class AudioEmbedding:
    """The soft tokens of a clip and their identities, int64[n], all negative."""

    sound: EncodedSound
    ids: Ids

    @property
    def rows(self) -> Rows:
        """float32[n, width]"""
        return self.sound.rows


class AudioEmbeddingCache:
    """Maps clips to their soft tokens. An entry lives as long as its clip is referenced."""

    def __init__(self, encode: EncodeSound) -> None:
        self._encode = encode
        self._encoded: WeakKeyDictionary[SpeechClip, AudioEmbedding] = WeakKeyDictionary()
        self._growing: tuple[SpeechClip, AudioEmbedding] | None = (
            None  # the newest clip of an unfinished utterance
        )
        self._next_id = 1

    def __contains__(self, clip: SpeechClip) -> bool:
        """Whether the clip is encoded to its end."""
        return clip in self._encoded

    def __getitem__(self, clip: SpeechClip) -> AudioEmbedding:
        """Return the cached tokens of the clip, or encode it now. Raises ModelError."""
        if clip not in self._encoded and self._growing is not None and self._growing[0] is clip:
            return self._growing[1]
        return self.encode_whole(clip)

    def encode_whole(self, clip: SpeechClip) -> AudioEmbedding:
        """Return the tokens of the complete clip. Raises ModelError."""
        if clip not in self._encoded:
            self._encoded[clip] = _finished(self._extend(clip, whole=True))
        return self._encoded[clip]

    def encode_partial(self, clip: SpeechClip, *, whole: bool = True) -> AudioEmbedding:
        """Return the tokens of a clip that may grow: the next clip of its utterance starts with
        the same samples. Without `whole`, the incomplete token at its end may be left out."""
        cached = self._encoded.get(clip)
        if cached is None:
            cached = self._extend(clip, whole=whole)
            if cached.sound.whole:
                self._encoded[clip] = _finished(cached)
        self._growing = clip, cached
        return cached

    def _extend(self, clip: SpeechClip, *, whole: bool) -> AudioEmbedding:
        """Encode the clip from the cached prefix of the same utterance, or from its start."""
        cached = self._cached_prefix(clip)
        if cached is None:
            sound = self._encode(clip.samples, whole=whole)
            return AudioEmbedding(sound, self._new_ids(len(sound.rows)))
        assert self._growing is not None
        same = len(self._growing[0].samples) == len(clip.samples)
        if same and (cached.sound.whole or not whole):
            return cached
        sound = self._encode(clip.samples, cached.sound, whole=whole)
        final_ids = cached.ids[: cached.sound.final]
        return AudioEmbedding(
            sound, np.append(final_ids, self._new_ids(len(sound.rows) - len(final_ids)))
        )

    def _cached_prefix(self, clip: SpeechClip) -> AudioEmbedding | None:
        """Return the cached tokens of the growing clip if this clip starts with its samples."""
        if self._growing is None:
            return None
        previous, cached = self._growing
        length = len(previous.samples)
        if previous.utterance != clip.utterance or length > len(clip.samples):
            return None
        return cached if np.array_equal(previous.samples, clip.samples[:length]) else None

    def _new_ids(self, count: int) -> Ids:
        first = self._next_id
        self._next_id += count
        return -np.arange(first, first + count, dtype=np.int64)


def _finished(embedding: AudioEmbedding) -> AudioEmbedding:
    """Drop the encoder's state, 1.3 MB at full size: a finished clip does not grow."""
    if not embedding.sound.state:
        return embedding
    return replace(embedding, sound=replace(embedding.sound, state={}))
