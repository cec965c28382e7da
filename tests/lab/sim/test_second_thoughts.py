"""Speech while the box thinks, and stop words, through the real processes.

The model is a server of the test that answers when the test releases it, so that the box thinks for
as long as the test needs on any machine. The requests show which speech counts as the question.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest

from appliance.messages.commands import StopSpeaking
from appliance.messages.hearing import SpeechStarted
from appliance.messages.playback import PlaybackStarted
from appliance.messages.thinking import Abandon, AnswerHeard, Think
from lab.bench.harness import QUIET, WITHOUT_THINKER, BenchHarness
from lab.sim.rehearsal_cli import load_over
from tests.english import ESPEAK
from tests.lab.sim.test_modes import PATIENCE_S, say_and_wait, wait_for, wait_for_state
from tests.think.test_remote import Server, stream
from tests.think.test_remote import chunk as written

pytestmark = [pytest.mark.process, pytest.mark.usefixtures("simcard_library")]

ANSWER = "The sea is deep and wide and salty. " * 12
STOPS = ["be quiet", "never mind", "that will do"]  # the last one was added by the owner


@pytest.fixture
def model() -> Iterator[GatedModel]:
    model = GatedModel()
    yield model
    model.release.set()
    model.server.http.shutdown()
    model.server.http.server_close()


class GatedModel:
    """A model server whose answer waits for `release`."""

    def __init__(self) -> None:
        self.release = threading.Event()
        self.server = Server()
        self.server.reply = self._reply

    def _reply(self, request: BaseHTTPRequestHandler) -> None:
        self.release.wait(60)
        stream(written(ANSWER, "stop"))(request)

    def clips_in_request(self, times: int) -> list[int]:
        """The number of audio clips in each message of the owner in that request."""
        messages = self.server.bodies[times - 1]["messages"]
        return [[p["type"] for p in m["content"]].count("input_audio") for m in messages
                if m["role"] == "user"]  # fmt: skip


def test_speech_during_thinking_extends_the_question_and_stop_words_end_it(
    model: GatedModel,
) -> None:
    def act(stage: BenchHarness) -> None:
        _speech_during_thinking_is_answered_together_with_the_question(stage, model)
        _speech_at_the_first_words_of_an_answer_extends_the_question(stage, model)
        _a_stop_phrase_of_the_owner_ends_the_answer_and_asks_nothing(stage, model)
        _never_mind_ends_thinking_and_drops_the_question(stage, model)

    remote = {"url": model.server.url, "model": "gemma", "timeout_s": 60}
    changes: dict[str, Any] = {
        "thinking": {"remote": remote},
        "hearing": {"words": {"stop": STOPS}},
        "speaking": {"grace_ms": 2000},  # a busy machine may be late to speak
    }
    parts = (*WITHOUT_THINKER, "words", "thinker")
    BenchHarness(QUIET, load_over(ESPEAK, changes), act, parts=parts).play()


def wait_for_requests(stage: BenchHarness, model: GatedModel, requests: int) -> None:
    """Wait until the model has received that many requests."""
    assert stage.wait_until(lambda: len(model.server.bodies) >= requests, PATIENCE_S)


def _speech_during_thinking_is_answered_together_with_the_question(
    stage: BenchHarness, model: GatedModel
) -> None:
    at = stage.card.now()
    say_and_wait(stage, "tell me about")
    wait_for_requests(stage, model, 1)
    say_and_wait(stage, "the sea and what lives at the very bottom of it")
    wait_for_requests(stage, model, 2)
    assert stage.wait_until(lambda: len([*stage.messages_since(Think, at)]) == 2, PATIENCE_S)
    second, first = stage.messages_since(Think, at)
    assert [m.turn for m in stage.messages_since(Abandon, at)] == [first.turn]
    assert sum(model.clips_in_request(1)) == 1
    assert sum(model.clips_in_request(2)) == 2
    model.release.set()
    assert wait_for(stage, PlaybackStarted, at).turn == second.turn
    assert first.turn not in [m.turn for m in stage.messages_since(AnswerHeard, at)]


def _speech_at_the_first_words_of_an_answer_extends_the_question(
    stage: BenchHarness, model: GatedModel
) -> None:
    at = stage.card.now()
    answered = next(stage.messages_since(Think, 0))
    say_and_wait(stage, "and why is it so salty and so very cold")  # during its first words
    wait_for_requests(stage, model, 3)
    assert sum(model.clips_in_request(3)) == 3
    assert wait_for(stage, PlaybackStarted, at).turn > answered.turn
    assert answered.turn in [m.turn for m in stage.messages_since(Abandon, at)]
    assert answered.turn not in [m.turn for m in stage.messages_since(AnswerHeard, at)]


def _a_stop_phrase_of_the_owner_ends_the_answer_and_asks_nothing(
    stage: BenchHarness, model: GatedModel
) -> None:
    wait_for_state(stage, "speaking")
    stage.wait(3.0)  # past its first words
    at = stage.card.now()
    model.release.clear()
    say_and_wait(stage, "that will do")
    heard = wait_for(stage, AnswerHeard, at)
    assert heard.text.startswith("The sea is deep")
    assert not heard.complete
    wait_for_state(stage, "idle")


def _never_mind_ends_thinking_and_drops_the_question(
    stage: BenchHarness, model: GatedModel
) -> None:
    requests = len(model.server.bodies)
    at = stage.card.now()
    say_and_wait(stage, "what is it that makes the moon so very bright")
    wait_for_requests(stage, model, requests + 1)
    say_and_wait(stage, "never mind")
    assert stage.wait_until(
        lambda: len(list(stage.messages_since(SpeechStarted, at))) == 2, PATIENCE_S
    )
    wait_for_state(stage, "idle")
    assert wait_for(stage, AnswerHeard, at).text == ""
    requests = len(model.server.bodies)
    say_and_wait(stage, "how old are the mountains and who made them")
    wait_for_requests(stage, model, requests + 1)
    assert model.clips_in_request(requests + 1)[-1] == 1
    # Neither "that will do" nor the dropped question is in the request.
    assert sum(model.clips_in_request(requests + 1)) == 4
    stage.send(StopSpeaking())
