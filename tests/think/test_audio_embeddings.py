"""Growing clips: encoded tokens keep their ids and equal those of the complete clip."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from appliance.models.encoder_graph.spectrum import TOKEN_SAMPLES
from appliance.think.audio_embeddings import AudioEmbeddingCache
from appliance.think.encoded_sound import EncodedSound
from appliance.think.gemma import Gemma
from appliance.think.history import SpeechClip

SOUND = np.random.default_rng(1).normal(0, 3000, 6 * 16_000).astype(np.int16)


class Causal:
    """A minimal causal encoder: a token's row is the sum of all sound up to its end."""

    def __init__(self) -> None:
        self.encoded: list[int] = []

    def __call__(
        self,
        samples: npt.NDArray[np.int16],
        prefix: EncodedSound | None = None,
        *,
        whole: bool = True,
    ) -> EncodedSound:
        self.encoded.append(len(samples))
        ends = np.arange(TOKEN_SAMPLES, len(samples) + TOKEN_SAMPLES, TOKEN_SAMPLES)
        sums = np.cumsum(samples.astype(np.float32))
        rows: npt.NDArray[np.float32] = sums[np.minimum(ends, len(samples)) - 1][:, None]
        return EncodedSound(rows, len(rows) - 1, whole=True)


class Streaming(Causal):
    """The same as a streaming encoder: it continues from a prefix and omits an incomplete token."""

    def __call__(
        self,
        samples: npt.NDArray[np.int16],
        prefix: EncodedSound | None = None,
        *,
        whole: bool = True,
    ) -> EncodedSound:
        rows = super().__call__(samples).rows
        final, done = len(samples) // TOKEN_SAMPLES, 0
        if prefix is not None and prefix.state:
            done = prefix.final
            assert np.array_equal(prefix.rows[:done], rows[:done])
        self.encoded[-1] = (len(rows) if whole else final) - done
        state = {"done": np.array(final)}
        return EncodedSound(rows if whole else rows[:final], final, whole, state)


def test_the_encoder_is_causal(gemma: Callable[[], Gemma]) -> None:
    model = gemma()
    whole = model.encode(SOUND)
    for frames in (16_000, 20_000, 33_333, 65_537):
        part = model.encode(SOUND[:frames])
        assert np.array_equal(part[:-1], whole[: len(part) - 1])


def test_a_clip_that_grew_keeps_all_token_ids_but_the_newest() -> None:
    clips = AudioEmbeddingCache(Causal())
    before = clips.encode_partial(SpeechClip(3, SOUND[:20_000]))
    after = clips[SpeechClip(3, SOUND[:50_000])]
    unchanged = len(before.ids) - 1
    assert np.array_equal(before.ids[:unchanged], after.ids[:unchanged])
    assert not set(after.ids[unchanged:]) & set(before.ids)
    assert np.array_equal(after.rows, Causal()(SOUND[:50_000]).rows)
    assert len(after.ids) == len(after.rows)


def test_the_same_sound_again_is_not_encoded_again() -> None:
    encode = Causal()
    clips = AudioEmbeddingCache(encode)
    before = clips.encode_partial(SpeechClip(3, SOUND[:20_000]))
    assert clips[SpeechClip(3, SOUND[:20_000])] is before
    assert encode.encoded == [20_000]


def test_other_sound_shares_no_token_ids() -> None:
    clips = AudioEmbeddingCache(Causal())
    before = clips.encode_partial(SpeechClip(3, SOUND[:20_000]))
    others = [
        SpeechClip(4, SOUND[:30_000]),  # another utterance
        SpeechClip(3, SOUND[1:30_000]),  # as after the loss of a slot
        SpeechClip(3, SOUND[:10_000]),
    ]
    for other in others:
        assert not set(clips[other].ids) & set(before.ids)


def test_each_second_of_a_growing_clip_is_encoded_once() -> None:
    encode = Streaming()
    clips = AudioEmbeddingCache(encode)
    for seconds in range(1, 6):
        clips.encode_partial(SpeechClip(3, SOUND[: 16_000 * seconds]), whole=False)
    last = SpeechClip(3, SOUND[:81_000])
    assert np.array_equal(clips.encode_whole(last).rows, Causal()(SOUND[:81_000]).rows)
    assert encode.encoded == [25, 25, 25, 25, 25, 2]


def test_an_incomplete_token_is_encoded_only_for_the_whole_clip() -> None:
    encode = Streaming()
    clips = AudioEmbeddingCache(encode)
    clip = SpeechClip(3, SOUND[:1_000])
    partial = clips.encode_partial(clip, whole=False)
    assert (len(partial.rows), len(partial.ids)) == (1, 1)
    assert clip not in clips
    assert clips[clip] is partial  # while it grows
    whole = clips.encode_whole(clip)
    assert np.array_equal(whole.rows, Causal()(SOUND[:1_000]).rows)
    assert whole.ids[0] == partial.ids[0]
    assert clips[clip] is whole
    assert clip in clips


def test_a_whole_clip_keeps_no_encoder_state() -> None:
    clips = AudioEmbeddingCache(Streaming())
    clip = SpeechClip(3, SOUND[:33_000])
    clips.encode_partial(clip, whole=True)
    assert clips[clip].sound.state == {}
    grown = clips.encode_whole(SpeechClip(3, SOUND[:40_000]))  # it can still grow
    assert np.array_equal(grown.ids[:51], clips[clip].ids[:51])
