"""Silero detects speech, and an unusable model file raises an error that names it."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest

from appliance.errors import ModelError
from appliance.hear.onset import vad
from appliance.hear.onset.vad import MODEL, VoiceActivityDetector
from appliance.onnx_session import open_session
from appliance.pcm import Samples, from_float
from tests.hear.arena import at_level, say


def probabilities(samples: Samples, block: int = 80) -> list[float]:
    speech = VoiceActivityDetector()
    heard = [speech.process(samples[at : at + block]) for at in range(0, len(samples), block)]
    return [p for p in heard if p is not None]


def test_speech_is_likely_in_speech_and_not_in_noise() -> None:
    speech = from_float(at_level(say("tell me about the moon")))
    noise = (np.random.default_rng(0).standard_normal(16_000) * 30).astype(np.int16)
    assert np.median(probabilities(speech)) > 0.9
    assert max(probabilities(noise)) < 0.3


def test_the_block_size_does_not_change_the_probabilities() -> None:
    speech = from_float(at_level(say("tell me about the moon")))[:16_000]
    assert probabilities(speech, 80) == probabilities(speech, 256)


def test_the_fixed_size_of_a_window_changes_no_result() -> None:
    fixed, open_ = vad._open(MODEL), open_session(MODEL, "the speech detector")
    rng = np.random.default_rng(0)
    given = {"state": np.zeros((2, 1, 128), np.float32), "sr": np.array(16_000, np.int64)}
    for level in (0.001, 0.1, 1.0):
        given["input"] = rng.normal(0, level, (1, 576)).astype(np.float32)
        results = [session.run(None, given) for session in (fixed, open_)]
        assert all(np.array_equal(a, b) for a, b in zip(*results, strict=True))
        given["state"] = results[0][1]


def test_skipping_calm_blocks_does_not_delay_detection() -> None:
    silence = (np.random.default_rng(0).standard_normal(32_000) * 5).astype(np.int16)
    speech = from_float(at_level(say("tell me about the moon")))
    always_run, skipped = VoiceActivityDetector(), VoiceActivityDetector()
    for at in range(0, len(silence), 80):
        always_run.process(silence[at : at + 80])
        assert skipped.process(silence[at : at + 80], calm=True) in (None, 0.0)
    first = [
        next(
            at
            for at in range(0, len(speech), 80)
            if (detector.process(speech[at : at + 80]) or 0) > 0.5
        )
        for detector in (always_run, skipped)
    ]
    assert first[1] <= first[0]


def test_a_hop_costs_less_than_a_millisecond() -> None:
    speech, hop = VoiceActivityDetector(), np.zeros(256, np.int16)
    costs = []
    for _ in range(200):
        before = time.thread_time_ns()
        speech.process(hop)
        costs.append(time.thread_time_ns() - before)
    assert np.median(costs) < 1e6


def test_a_missing_model_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"gone\.onnx: the speech detector is missing"):
        VoiceActivityDetector(tmp_path / "gone.onnx")


def test_a_damaged_model_is_named(tmp_path: Path) -> None:
    broken = tmp_path / "broken.onnx"
    broken.write_bytes(MODEL.read_bytes()[:5000])
    with pytest.raises(ModelError, match="not a usable network"):
        VoiceActivityDetector(broken)
