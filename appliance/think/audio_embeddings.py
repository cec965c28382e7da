"""Clips as the model hears them: encoded once, and, while the owner speaks, a piece at a time.

In: clips. Out: soft tokens, each with an identity of its own. The encoder is causal: of a clip's
tokens all but the newest stay what they are when more sound is added behind them
(tests/think/test_audio_embeddings.py). So the tokens of a clip that has grown keep their
identities, and what the model has read of them stays read; and an encoder that keeps its state goes
on from there.
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

Ids = npt.NDArray[np.int64]  # a token's own number, or a negative one, unique to a row of sound


class EncodeSound(Protocol):
    """What encodes a clip; see SoundEncoder."""

    def __call__(
        self, samples: npt.NDArray[np.int16], begun: EncodedSound | None = None, *, whole: bool
    ) -> EncodedSound: ...


@dataclass(frozen=True)
class AudioEmbedding:
    """Soft tokens, and their identities, int64[n], all negative."""

    sound: EncodedSound
    ids: Ids

    @property
    def rows(self) -> Rows:
        """float32[n, width]"""
        return self.sound.rows


class AudioEmbeddingCache:
    """What clips were encoded to, kept as long as anybody holds the clip."""

    def __init__(self, encode: EncodeSound) -> None:
        self._encode = encode
        self._known: WeakKeyDictionary[SpeechClip, AudioEmbedding] = WeakKeyDictionary()
        self._growing: tuple[SpeechClip, AudioEmbedding] | None = (
            None  # the newest of an unfinished utterance
        )
        self._next_id = 1

    def __contains__(self, clip: SpeechClip) -> bool:
        """It is encoded to its end."""
        return clip in self._known

    def __getitem__(self, clip: SpeechClip) -> AudioEmbedding:
        """What is known of the clip; if it is nothing, it is encoded now. Raises ModelError."""
        if clip not in self._known and self._growing is not None and self._growing[0] is clip:
            return self._growing[1]
        return self.encode_whole(clip)

    def encode_whole(self, clip: SpeechClip) -> AudioEmbedding:
        """The clip's tokens, to its end. Raises ModelError."""
        if clip not in self._known:
            self._known[clip] = _finished(self._grown(clip, whole=True))
        return self._known[clip]

    def encode_partial(self, clip: SpeechClip, *, whole: bool = True) -> AudioEmbedding:
        """The tokens of a clip that may grow: the next one of its utterance begins with it.
        Unless the `whole` is wanted, the token that its end cuts short may be left out."""
        known = self._known.get(clip)
        if known is None:
            known = self._grown(clip, whole=whole)
            if known.sound.whole:
                self._known[clip] = _finished(known)
        self._growing = clip, known
        return known

    def _grown(self, clip: SpeechClip, *, whole: bool) -> AudioEmbedding:
        """From what is known of the same utterance, if it begins so; else from nothing."""
        known = self._beginning(clip)
        if known is None:
            sound = self._encode(clip.samples, whole=whole)
            return AudioEmbedding(sound, self._number(len(sound.rows)))
        assert self._growing is not None
        same = len(self._growing[0].samples) == len(clip.samples)
        if same and (known.sound.whole or not whole):
            return known
        sound = self._encode(clip.samples, known.sound, whole=whole)
        kept = known.ids[: known.sound.final]
        return AudioEmbedding(sound, np.append(kept, self._number(len(sound.rows) - len(kept))))

    def _beginning(self, clip: SpeechClip) -> AudioEmbedding | None:
        """What is known of a clip that this one begins with."""
        if self._growing is None:
            return None
        before, known = self._growing
        heard = len(before.samples)
        if before.utterance != clip.utterance or heard > len(clip.samples):
            return None
        return known if np.array_equal(before.samples, clip.samples[:heard]) else None

    def _number(self, count: int) -> Ids:
        first = self._next_id
        self._next_id += count
        return -np.arange(first, first + count, dtype=np.int64)


def _finished(embedding: AudioEmbedding) -> AudioEmbedding:
    """Without the encoder's state, 1.3 MB at full size: the clip grows no more."""
    if not embedding.sound.state:
        return embedding
    return replace(embedding, sound=replace(embedding.sound, state={}))
