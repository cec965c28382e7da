"""An interruption that turns out to be a murmur: the utterance ends at once, and is no turn."""

from __future__ import annotations

import numpy as np
import pytest

from appliance.hear.bargein.murmur_judge import MurmurJudge
from appliance.hear.bargein.murmur_network import MurmurScores
from appliance.hear.network_judge import NetworkAnswer
from appliance.hear.pipeline import HearingPipeline
from appliance.messages.hearing import (
    Onset,
    SetListening,
    SpeechEnded,
    SpeechStarted,
    Verdict,
    WordsHeard,
)
from appliance.pcm import RATE_HZ, Samples
from appliance.settings import HearingSettings
from tests.hear.arena import ANSWER, Room, Run, Wave, at_level, say
from tests.hear.bargein.test_murmur_network import THRESHOLDS

MS = 16
SAID_AT = 8 * RATE_HZ


class ChangedMind:
    """A judge that takes a sound for a call at first, and at its end for a murmur."""

    def __init__(self, at_the_end: float = 4.0) -> None:
        self.at_the_end = at_the_end
        self.asked: list[int] = []  # the lengths of the sounds
        self._due: list[NetworkAnswer[MurmurScores]] = []

    def ask(self, number: int, samples: Samples) -> None:
        self.asked.append(len(samples))
        score = -4.0 if len(self.asked) == 1 else self.at_the_end
        self._due.append(NetworkAnswer(number, MurmurScores(score, -3.0), 5.0))

    def pop_answer(self) -> NetworkAnswer[MurmurScores] | None:
        return self._due.pop(0) if self._due else None


def over_the_box(settings: HearingSettings, judge: ChangedMind, sound: Wave) -> Run:
    owner = np.concatenate([np.zeros(SAID_AT), at_level(sound), np.zeros(3 * RATE_HZ)])
    answer = at_level(np.tile(say(ANSWER), 2), -20)
    return Room(
        HearingPipeline(settings, murmurs=MurmurJudge(judge, THRESHOLDS)),
        answer=answer,
        echo_db=-60.0,
    ).hear(owner)


@pytest.fixture
def murmur() -> Wave:
    """A word of 0.7 s."""
    return say("really now", speed=130)[: round(0.7 * RATE_HZ)]


def test_the_utterance_ends_without_samples_soon_after_its_sound(
    settings: HearingSettings, murmur: Wave
) -> None:
    result = over_the_box(settings, ChangedMind(), murmur)
    verdicts = [verdict.kind for at, verdict in result.of(Verdict) if at > SAID_AT]
    assert verdicts == ["interruption", "backchannel"]
    assert len(result.of(SpeechStarted)) == 1
    [(ended, speech)] = result.of(SpeechEnded)
    assert (speech.last, speech.frames) == (True, 0)
    assert ended - (SAID_AT + len(murmur)) < 450 * MS
    assert [at for at, onset in result.of(Onset) if at > ended and onset.speaking] == []


@pytest.mark.parametrize(
    ("score", "text"), [(0.5, ""), (4.0, "wait, tell me about the moon instead")]
)
def test_a_call_or_a_longer_sentence_stays_a_turn(
    settings: HearingSettings, murmur: Wave, score: float, text: str
) -> None:
    sound = say(text) if text else murmur
    result = over_the_box(settings, ChangedMind(score), sound)
    [(_, speech)] = result.of(SpeechEnded)
    assert speech.frames > len(sound) * 0.8


def test_words_that_were_recognised_keep_it_a_turn(settings: HearingSettings, murmur: Wave) -> None:
    judge = ChangedMind()
    hearing = HearingPipeline(settings, murmurs=MurmurJudge(judge, THRESHOLDS))
    room = Room(hearing, answer=at_level(say(ANSWER), -20), echo_db=-60.0)
    room.hear(np.concatenate([np.zeros(SAID_AT), at_level(murmur)]))
    [*_, (_, onset)] = room.result.of(Onset)
    assert isinstance(room.hearing, HearingPipeline)
    room.hearing.on_words(WordsHeard(onset.serial, 500, "stop", "stop", 0.99))
    result = room.hear(np.zeros(3 * RATE_HZ))
    [(_, speech)] = result.of(SpeechEnded)
    assert speech.frames > 0


# ── a question of the box is open ────────────────────────────────────────────────────────────
BEGUN = 1600  # samples of a sound, after which the box has noticed it


def to_a_question(room: Room, sound: Wave, *, asked: int | None, words: str = "") -> list[str]:
    """The verdicts on `sound` over the box, and the ends of utterances with samples; the message
    `asked` and these `words` come just after its onset."""
    hearing = room.hearing
    assert isinstance(hearing, HearingPipeline)
    before = len(room.result.events)
    wave = at_level(sound)
    room.hear(wave[:BEGUN])
    [serial] = [
        event.serial for _, event in room.result.events[before:] if isinstance(event, Onset)
    ]
    if words:
        hearing.on_words(WordsHeard(serial, 200, words, "carry_on", 1.0))
    if asked is not None:
        hearing.set_listening(SetListening(True, asked=serial + asked))
    room.hear(np.concatenate([wave[BEGUN:], np.zeros(2 * RATE_HZ)]))
    after = [event for _, event in room.result.events[before:]]
    found = [event.kind for event in after if isinstance(event, Verdict)]
    return found + ["turn" for event in after if isinstance(event, SpeechEnded) and event.frames]


@pytest.mark.parametrize(
    ("asked", "found"),
    [(None, ["backchannel"]), (0, ["interruption", "turn"]), (-1, ["backchannel"])],
)
def test_a_murmur_over_an_open_question_is_an_answer(
    talking_for_7_s: Room, asked: int | None, found: list[str]
) -> None:
    assert to_a_question(talking_for_7_s, say("yeah"), asked=asked, words="yeah") == found


def test_a_noise_over_an_open_question_is_no_answer(talking_for_7_s: Room) -> None:
    click = np.random.default_rng(1).standard_normal(RATE_HZ // 4) * np.geomspace(1, 1e-3, 4000)
    assert to_a_question(talking_for_7_s, click, asked=0) == ["noise"]
