"""Learning from an owner's recordings, and the reasons for which recordings are refused."""

from __future__ import annotations

import numpy as np
import pytest

from appliance.hear.bargein import enrolment
from appliance.hear.bargein.adaptation import EMBEDDING, Adaptation, NetworkOutputs
from appliance.hear.bargein.enrolment import (
    EnrolmentError,
    EnrolmentRecording,
    EnrolmentResult,
    ScoredRecording,
)
from appliance.hear.bargein.network import VerdictNetwork
from appliance.messages.hearing import Judgement
from appliance.pcm import RATE_HZ, Samples, from_float
from appliance.settings import HearingSettings
from tests.hear.arena import at_level, say

SILENT = np.zeros(2 * RATE_HZ, np.int16)


def noise(db: float, seconds: float = 2.0) -> Samples:
    wave = np.random.default_rng(3).standard_normal(int(seconds * RATE_HZ))
    return from_float(at_level(wave, db))


def spoken(text: str, voice: str = "en-gb+m2") -> Samples:
    """A word as a microphone in a quiet room records it, with silence around it."""
    out = noise(-66)
    word = from_float(at_level(say(text, voice)))
    out[8000 : 8000 + len(word)] += word[: len(out) - 8000]
    return out


def take(samples: Samples, kind: Judgement = "backchannel") -> EnrolmentRecording:
    return EnrolmentRecording("mm-hm 1", kind, samples)


@pytest.mark.long
def test_a_clear_word_is_scored_in_several_variations(settings: HearingSettings) -> None:
    scored = enrolment.score(take(spoken("right")), settings, VerdictNetwork())
    assert len(scored.answers.log_odds) > 2 * len(enrolment.WAYS)
    assert scored.answers.embedding.shape[1] == EMBEDDING


@pytest.mark.parametrize(
    ("samples", "because"),
    [
        (SILENT, "silent"),
        (np.zeros(0, np.int16), "silent"),
        (noise(-30), "too noisy"),
        (np.tile(np.array([32767, -32768], np.int16), RATE_HZ), "clipped"),
        (np.concatenate([SILENT, noise(-20, 0.06), SILENT]), "over too soon"),
        (np.concatenate([SILENT, noise(-20, 1.6), SILENT]), "too long"),
    ],
)
def test_an_unusable_recording_is_refused_with_its_reason(
    settings: HearingSettings, samples: Samples, because: str
) -> None:
    with pytest.raises(EnrolmentError, match=because):
        enrolment.score(take(samples), settings, VerdictNetwork())


def heard(name: str, kind: Judgement, middle: float, seed: int) -> ScoredRecording:
    """The outputs for a take by a network that cannot tell the classes apart."""
    chance = np.random.default_rng(seed)
    embedding = chance.normal(0, 0.3, (20, EMBEDDING)).astype(np.float32)
    embedding[:, 1] += middle
    log_odds = np.tile(np.array([0.1, 0.0, -3.0], np.float32), (20, 1))
    return ScoredRecording(
        EnrolmentRecording(name, kind, SILENT), NetworkOutputs(log_odds, embedding)
    )


def owner(apart: float, takes: int = 4) -> list[ScoredRecording]:
    """An owner whose backchannels and interruptions are `apart` in the embedding."""
    return [heard(f"mm-hm {i}", "backchannel", apart, i) for i in range(takes)] + [
        heard(f"wait {i}", "interruption", -apart, 50 + i) for i in range(takes)
    ]


OTHERS = NetworkOutputs(
    np.tile(np.array([0.5, 0.0, -1.0], np.float32), (100, 1)),
    np.random.default_rng(9).normal(0, 0.3, (100, EMBEDDING)).astype(np.float32),
)


@pytest.mark.long
def test_leave_one_out_accuracy_improves_after_learning() -> None:
    learnt = enrolment.learn(owner(0.8), OTHERS, "model")
    assert (learnt.takes, learnt.before, learnt.after) == (8, 0.5, 1.0)
    assert learnt.loss_after < learnt.loss_before
    assert learnt.helps


def learnt(before: float, after: float, loss_after: float = 0.2) -> EnrolmentResult:
    layer = Adaptation(np.zeros((3, EMBEDDING), np.float32), np.zeros(3, np.float32), "")
    return EnrolmentResult(layer, 12, before, after, 0.5, loss_after)


def test_a_result_that_is_no_better_does_not_help() -> None:
    assert learnt(0.8, 0.9).helps
    assert not learnt(0.9, 0.8).helps
    assert not learnt(0.8, 0.9, loss_after=0.6).helps
    assert not learnt(1.0, 1.0).helps  # nothing to gain


@pytest.mark.parametrize("missing", ["backchannel", "interruption"])
def test_too_few_of_a_class_are_refused(missing: str) -> None:
    left = [h for h in owner(0.8) if h.take.kind != missing]
    two = [h for h in owner(0.8) if h.take.kind == missing][:2]
    with pytest.raises(EnrolmentError, match=f"2 usable recordings for {missing}"):
        enrolment.learn(left + two, OTHERS, "model")


def test_recordings_that_contradict_each_other_are_refused() -> None:
    same = [h.answers for h in owner(0.8)]
    mixed = [ScoredRecording(EnrolmentRecording(f"{i}", "interruption" if i % 2 else "backchannel",
    SILENT), same[0])
             for i in range(8)]  # fmt: skip
    with pytest.raises(EnrolmentError, match="contradict"):
        enrolment.learn(mixed, OTHERS, "model")


def test_the_worst_fitting_take_is_named() -> None:
    three = owner(0.8, 3)
    wrong = [ScoredRecording(EnrolmentRecording(f"wrong {h.take.name}", "interruption", SILENT),
    h.answers)
             for h in three if h.take.kind == "backchannel"]  # fmt: skip
    with pytest.raises(EnrolmentError, match="fits least"):
        enrolment.learn([*three, *wrong], OTHERS, "model")
