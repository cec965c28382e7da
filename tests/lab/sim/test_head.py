"""Conversations whose answers the shipped head speaks from the pocket model's hidden states.

Real processes; the questions are typed and spoken."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from appliance.errors import VoiceError
from appliance.messages.commands import Ask
from appliance.messages.speech import SpeakerReady, Spoken
from appliance.messages.thinking import Sentence
from appliance.pcm import RATE_HZ
from appliance.runtime.enabled import HEAD
from appliance.voice.postprocess import rms_dbfs
from lab.sim import rehearsal_cli, scene
from lab.sim.rehearsal import Rehearsal
from lab.sim.rehearsal_report import RecordingReader, report
from tests.english import ENGLISH

pytestmark = [pytest.mark.process, pytest.mark.usefixtures("simcard_library")]
LEAST_DBFS = -45.0  # minimum level of a sentence; the head's speech is scaled to -25


@pytest.fixture(scope="module")
def talk(simcard_library: Path) -> RecordingReader:
    """A typed question about the sea, a backchannel, a stop; a spoken question, a stop."""
    sent_requests: list[bool] = []

    def owner(stage: Rehearsal) -> None:
        ready = SpeakerReady(HEAD) in (seen.message for _, seen in stage.recording.mail)
        if ready and not sent_requests and stage.supervisor.is_ready:
            sent_requests.append(stage.mail.send(Ask("tell me about the sea")))

    script = [
        {"when": "speaking", "after_s": 3.0, "say": "mm-hm", "kind": "backchannel"},
        {"when": "speaking", "after_s": 2.0, "say": "stop please", "kind": "interruption"},
        {"when": "idle", "after_s": 0.8, "say": "tell me about the moon"},
        {"when": "speaking", "after_s": 3.0, "say": "stop please", "kind": "interruption"},
    ]
    raw = {"owner": script, "patience_s": 60, "settings": {"speaking": {"voice": HEAD}}}
    parsed = scene.parse(raw, name="head", folder=Path())
    return rehearsal_cli.perform(parsed, ENGLISH, during=owner)


def of_the_head(talk: RecordingReader) -> list[Spoken]:
    return [message for _, message in talk.all(Spoken) if message.voice == HEAD]


def test_typed_and_spoken_questions_are_answered_by_the_head(talk: RecordingReader) -> None:
    assert not talk.recording.given_up
    # The report of a sentence waits for the recogniser, which may be late on a busy machine.
    assert report(talk)["voices"].keys() <= {HEAD}
    assert {message.voice for _, message in talk.all(SpeakerReady)} >= {HEAD}
    turns = [turn for turn, sound in talk.recording.answers.items() if np.any(sound)]
    texts = [
        " ".join(sentence.text for _, sentence in talk.all(Sentence) if sentence.turn == turn)
        for turn in sorted(turns)
    ]
    assert len(texts) == 2
    assert "sea" in texts[0]
    assert "moon" in texts[1]


def test_the_speech_of_the_head_is_audible_and_of_plausible_length(talk: RecordingReader) -> None:
    texts = {(sentence.turn, sentence.number): sentence.text for _, sentence in talk.all(Sentence)}
    for spoken in of_the_head(talk):
        words = len(texts[spoken.turn, spoken.number].split())
        assert 0.1 * words < spoken.frames / RATE_HZ < 1.0 * words
    for turn, sound in talk.recording.answers.items():
        if turn in {spoken.turn for spoken in of_the_head(talk)}:
            assert rms_dbfs(sound, RATE_HZ) > LEAST_DBFS


def test_each_word_of_a_sentence_has_a_time(talk: RecordingReader) -> None:
    texts = {(sentence.turn, sentence.number): sentence.text for _, sentence in talk.all(Sentence)}
    for spoken in of_the_head(talk):
        text = texts[spoken.turn, spoken.number]
        assert len(spoken.words) == len(text.split())
        characters, ends = np.array(spoken.words).T
        assert characters[-1] == len(text)
        assert np.all(np.diff(characters) > 0)
        assert np.all(np.diff(ends) >= 0)
        assert ends[0] > 0
        assert ends[-1] <= spoken.frames


def test_the_head_resumes_and_yields_like_every_voice(talk: RecordingReader) -> None:
    murmur, stop, _, again = talk.outcomes()
    assert [murmur.outcome, stop.outcome, again.outcome] == ["resumed", "yielded", "yielded"]
    # A playback dropout shifts later samples; then a loss at the seam is not due to the pause.
    undisturbed = not report(talk)["dropouts"]["playback"]
    seams = [(seam.lost_samples, seam.repeated_samples) for seam in talk.seams()]
    assert not undisturbed or seams == [(0, 0)] * len(seams)


def test_an_unknown_voice_is_refused_before_anything_is_played(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(VoiceError, match="no voice `nobody`"):
        rehearsal_cli.demo(None, ENGLISH, "nobody")
    assert capsys.readouterr().out == ""
