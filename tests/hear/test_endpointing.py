"""Voicing row by row; an utterance's samples are sent once, in order, in pieces cut at pauses."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest

from appliance.hear.endpointing import Endpointer
from appliance.hear.onset.vad import HOP_FRAMES
from appliance.hear.utterance_stream import CHUNK_FRAMES, SpeechSlot, UtteranceStream
from appliance.messages.hearing import SpeechEnded
from appliance.pcm import SampleBuffer
from appliance.runtime.ipc.ring import END, PAUSE, START
from appliance.settings import HearingSettings


@pytest.mark.parametrize(
    ("probabilities", "voiced", "spoken_hops"),
    [
        ([0.4, 0.45, 0.49], False, 0),  # below the threshold to start
        ([0.5], True, 1),
        ([0.6, 0.4, 0.36], True, 3),  # above the threshold to continue
        ([0.6, 0.34], False, 1),
        ([0.6, 0.34, 0.45], False, 1),  # after the end the start threshold applies
        ([0.6, 0.1, 0.6], True, 2),  # a gap does not count and resets nothing
        ([0.1, 0.1, 0.9], True, 3),  # the rise before the voice is its first consonant
    ],
)
def test_voicing_starts_and_ends_with_hysteresis(
    settings: HearingSettings, probabilities: list[float], voiced: bool, spoken_hops: int
) -> None:
    voicing = Endpointer(settings.turn)
    voicing.start(1000)
    for hop, probability in enumerate(probabilities, 1):
        voicing.update(probability, 1000 + hop * HOP_FRAMES)
    assert voicing.voiced == voiced
    assert voicing.spoken_frames == spoken_hops * HOP_FRAMES


def test_silence_counts_from_the_last_voice(settings: HearingSettings) -> None:
    voicing = Endpointer(settings.turn)
    voicing.start(0)
    voicing.update(0.9, 256)
    voicing.update(0.1, 512)
    assert voicing.silent_frames(1000) == 1000 - 256


def numbered_samples(frames: int) -> SampleBuffer:
    buffer = SampleBuffer(frames)
    buffer.write(0, np.arange(frames).astype(np.int16))
    return buffer


def put_together(out: list[SpeechSlot | SpeechEnded]) -> tuple[list[int], list[SpeechEnded]]:
    chunks = [each for each in out if isinstance(each, SpeechSlot)]
    assert all(len(chunk.samples) <= CHUNK_FRAMES for chunk in chunks)
    position = 0
    for chunk in chunks:
        assert chunk.position == position
        position += len(chunk.samples)
    assert [bool(chunk.flags & START) for chunk in chunks] == [True] + [False] * (len(chunks) - 1)
    assert [bool(chunk.flags & END) for chunk in chunks] == [False] * (len(chunks) - 1) + [True]
    samples = np.concatenate([chunk.samples for chunk in chunks]).tolist()
    return samples, [each for each in out if isinstance(each, SpeechEnded)]


@pytest.mark.parametrize("until", [20_000, 20_001, 20_319, 400])
def test_every_sample_is_sent_once(until: int) -> None:
    buffer, utterance = numbered_samples(30_000), UtteranceStream(7, 100, 1_000_000)
    out = []
    for now in range(180, until, 80):
        out += utterance.pop_ready(buffer, now, 5000, quiet=False)
    out += utterance.finish(buffer, until, 5000, until - 50)
    samples, ends = put_together(out)
    assert samples == list(range(100, until))
    assert ends == [SpeechEnded(7, 5000 + until - 50, until - 100, last=True)]


def test_pieces_lose_and_repeat_no_samples() -> None:
    buffer, utterance = numbered_samples(32_000), UtteranceStream(7, 0, 10_000)
    out = utterance.pop_ready(buffer, 31_000, 0, quiet=False) + utterance.finish(
        buffer, 31_990, 0, 31_900
    )
    samples, ends = put_together(out)
    assert samples == list(range(31_990))
    assert [(end.frames, end.last) for end in ends] == [
        (10_000, False), (20_000, False), (30_000, False), (31_990, True),
    ]  # fmt: skip


def test_a_piece_is_cut_at_a_pause_near_its_limit() -> None:
    buffer, utterance = numbered_samples(32_000), UtteranceStream(7, 0, 100_000)
    early = utterance.pop_ready(buffer, 20_000, 0, quiet=True)
    assert not any(isinstance(each, SpeechEnded) for each in early)
    buffer = SampleBuffer(160_000)
    utterance = UtteranceStream(7, 0, 100_000)
    out = utterance.pop_ready(buffer, 60_000, 0, quiet=False) + utterance.pop_ready(
        buffer, 61_000, 0, quiet=True
    )
    [cut] = [each for each in out if isinstance(each, SpeechEnded)]
    assert 60_000 <= cut.frames <= 61_000
    assert not cut.last


def test_the_threshold_comes_from_the_settings(settings: HearingSettings) -> None:
    turn = msgspec.structs.replace(settings.turn, probability=0.9)
    voicing = Endpointer(turn)
    voicing.update(0.8, 256)
    assert not voicing.voiced


def test_a_pause_is_flushed_once_and_the_utterance_can_continue() -> None:
    buffer, utterance = numbered_samples(30_000), UtteranceStream(7, 0, 1_000_000)
    out = utterance.pop_ready(buffer, 10_001, 0, quiet=True)
    paused = utterance.flush_pause(buffer, 10_001, 0)
    assert [chunk.flags for chunk in paused] == [PAUSE]
    assert paused[0].position + len(paused[0].samples) == 10_001
    assert utterance.flush_pause(buffer, 10_001, 0) == []  # sent once
    out += [*paused, *utterance.pop_ready(buffer, 20_000, 0, quiet=False)]
    out += [*utterance.flush_pause(buffer, 20_001, 0), *utterance.finish(buffer, 20_001, 0, 19_000)]
    samples, ends = put_together(out)
    assert samples == list(range(20_001))
    assert ends == [SpeechEnded(7, 19_000, 20_001, last=True)]
