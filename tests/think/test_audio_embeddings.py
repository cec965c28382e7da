"""Clips as they grow: what was encoded keeps its identity, and never differs from a whole one's."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from appliance.think.audio_embeddings import AudioEmbeddingCache
from appliance.think.gemma import TOKEN_SAMPLES, Gemma
from appliance.think.history import SpeechClip

SOUND = np.random.default_rng(1).normal(0, 3000, 6 * 16_000).astype(np.int16)


class Causal:
    """An encoder in a few words: a token's row is the sum of all sound up to its end."""

    def __init__(self) -> None:
        self.encoded: list[int] = []

    def __call__(self, samples: npt.NDArray[np.int16]) -> npt.NDArray[np.float32]:
        self.encoded.append(len(samples))
        ends = np.arange(TOKEN_SAMPLES, len(samples) + TOKEN_SAMPLES, TOKEN_SAMPLES)
        sums = np.cumsum(samples.astype(np.float32))
        rows: npt.NDArray[np.float32] = sums[np.minimum(ends, len(samples)) - 1][:, None]
        return rows


def test_the_encoder_is_causal(gemma: Callable[[], Gemma]) -> None:
    model = gemma()
    whole = model.encode(SOUND)
    for frames in (16_000, 20_000, 33_333, 65_537):
        part = model.encode(SOUND[:frames])
        assert np.array_equal(part[:-1], whole[: len(part) - 1])


def test_a_clip_that_grew_keeps_all_identities_but_the_newest() -> None:
    clips = AudioEmbeddingCache(Causal())
    before = clips.encode_partial(SpeechClip(3, SOUND[:20_000]))
    after = clips[SpeechClip(3, SOUND[:50_000])]
    kept = len(before.ids) - 1
    assert np.array_equal(before.ids[:kept], after.ids[:kept])
    assert not set(after.ids[kept:]) & set(before.ids)
    assert np.array_equal(after.rows, Causal()(SOUND[:50_000]))
    assert len(after.ids) == len(after.rows)


def test_the_same_sound_again_is_not_encoded_again() -> None:
    encode = Causal()
    clips = AudioEmbeddingCache(encode)
    before = clips.encode_partial(SpeechClip(3, SOUND[:20_000]))
    assert clips[SpeechClip(3, SOUND[:20_000])] is before
    assert encode.encoded == [20_000]


def test_other_sound_shares_nothing_with_it() -> None:
    clips = AudioEmbeddingCache(Causal())
    before = clips.encode_partial(SpeechClip(3, SOUND[:20_000]))
    others = [
        SpeechClip(4, SOUND[:30_000]),  # another utterance
        SpeechClip(3, SOUND[1:30_000]),  # as a reader that lost a slot would have it
        SpeechClip(3, SOUND[:10_000]),
    ]
    for other in others:
        assert not set(clips[other].ids) & set(before.ids)
