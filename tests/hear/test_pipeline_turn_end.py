"""The pipeline ends a turn sooner or later depending on the judge's probability."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from appliance.hear.endpointing import TRAILING_FRAMES
from appliance.hear.network_judge import NetworkAnswer
from appliance.hear.pipeline import HearingPipeline
from appliance.hear.utterance_stream import CHUNK_FRAMES, SpeechSlot
from appliance.messages.hearing import SetListening, SpeechEnded
from appliance.pcm import RATE_HZ, Samples
from appliance.settings import HearingSettings
from tests.hear.arena import INDEX, at_level, run, say, track


class ConstantJudge:
    """A judge that answers every question at the next block with the same probability."""

    def __init__(self, probability: float) -> None:
        self.probability = probability
        self.asked: list[Samples] = []
        self.due: list[NetworkAnswer[float]] = []

    def ask(self, number: int, samples: Samples) -> None:
        self.asked.append(samples)
        self.due.append(NetworkAnswer(number, self.probability, 5.0))

    def pop_answer(self) -> NetworkAnswer[float] | None:
        return self.due.pop(0) if self.due else None


@pytest.mark.parametrize(
    ("probability", "least_ms", "most_ms"), [(1.0, 250, 290), (0.0, 1400, 1440)]
)
def test_a_finished_turn_ends_after_250_ms_and_an_unfinished_one_after_1400_ms(
    settings: HearingSettings, probability: float, least_ms: int, most_ms: int
) -> None:
    owner, _ = track([at_level(say("tell me about the moon"))], lead_s=1, gap_s=2)
    judge = ConstantJudge(probability)
    result = run(HearingPipeline(settings, judge=judge), owner, noise_db=None)
    [(ended_at, ended)] = result.of(SpeechEnded)
    assert least_ms <= (ended_at - (ended.index - INDEX)) / 16 <= most_ms
    samples = np.concatenate([chunk.samples for _, chunk in result.of(SpeechSlot)])
    # The judge gets the echo-cancelled utterance with the silence after it.
    until = ended.frames - TRAILING_FRAMES
    assert np.array_equal(judge.asked[0][:until], samples[:until])
    assert len(judge.asked[0]) - until == pytest.approx(200 * 16, abs=10 * 16)


@pytest.mark.long
def test_a_pause_for_thought_does_not_split_the_turn_if_the_judge_recognises_it(
    settings: HearingSettings,
) -> None:
    first, rest = at_level(say("turn on the light in")), at_level(say("the kitchen"))
    owner, _ = track([first, rest], lead_s=1, gap_s=0.8)
    owner = np.append(owner, np.zeros(2 * 16_000))
    judged = run(HearingPipeline(settings, judge=ConstantJudge(0.0)), owner, noise_db=None)
    assert len(judged.of(SpeechEnded)) == 1
    alone = run(HearingPipeline(settings), owner, noise_db=None)
    assert len(alone.of(SpeechEnded)) == 2


@pytest.mark.long
def test_a_long_pause_with_the_button_held_is_shortened_to_a_few_seconds(
    settings: HearingSettings,
) -> None:
    pipeline = HearingPipeline(settings)
    pipeline.set_listening(SetListening(True, held=True))
    phrases = [at_level(say("tell me about")), at_level(say("the moon"))]
    owner, _ = track(phrases, lead_s=0.5, gap_s=15)
    result = run(pipeline, owner, noise_db=None)
    slots = [slot for _, slot in result.of(SpeechSlot)]
    at_once = Counter(at for at, _ in result.of(SpeechSlot))
    said = np.concatenate([slot.samples for slot in slots])
    spoken = sum(len(phrase) for phrase in phrases)
    assert spoken < len(said) < spoken + 4 * RATE_HZ
    assert [slot.position for slot in slots] == [
        0,
        *np.cumsum([len(s.samples) for s in slots])[:-1],
    ]
    assert max(at_once.values()) < 2.5 * RATE_HZ / CHUNK_FRAMES
    first, second = (np.abs(said[:RATE_HZ]).max(), np.abs(said[-RATE_HZ:]).max())
    assert min(first, second) > 500, "the words before and after the pause are complete"


def test_the_judge_is_not_asked_while_the_button_is_held(settings: HearingSettings) -> None:
    judge = ConstantJudge(1.0)
    pipeline = HearingPipeline(settings, judge=judge)
    pipeline.set_listening(SetListening(True, held=True))
    owner, _ = track([at_level(say("tell me about the moon"))], lead_s=0.5, gap_s=2)
    result = run(pipeline, owner, noise_db=None)
    assert (judge.asked, result.of(SpeechEnded)) == ([], [])
