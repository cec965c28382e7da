"""Speech while the box thinks, and words that end what it does, through the real processes.

The model is a server of the test's own, which answers when the test lets it: so the box thinks for
as long as that takes, on any machine. What was sent to it is what the owner is taken to have said.
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
from tests.english import ENGLISH
from tests.lab.sim.test_modes import PATIENCE_S, becomes, comes, said
from tests.think.test_remote import Server, stream
from tests.think.test_remote import chunk as written

pytestmark = [pytest.mark.process, pytest.mark.usefixtures("simcard_library")]

ANSWER = "The sea is deep and wide and salty. " * 12
STOPS = ["be quiet", "never mind", "that will do"]  # the last one is the owner's own


@pytest.fixture
def model() -> Iterator[Model]:
    model = Model()
    yield model
    model.let.set()
    model.server.http.shutdown()
    model.server.http.server_close()


class Model:
    """Thinks until it is let."""

    def __init__(self) -> None:
        self.let = threading.Event()
        self.server = Server()
        self.server.reply = self._reply

    def _reply(self, request: BaseHTTPRequestHandler) -> None:
        self.let.wait(60)
        stream(written(ANSWER, "stop"))(request)

    def asked(self, times: int) -> list[int]:
        """Of the request of that number: clips of sound in each of the owner's messages."""
        messages = self.server.bodies[times - 1]["messages"]
        return [[p["type"] for p in m["content"]].count("input_audio") for m in messages
                if m["role"] == "user"]  # fmt: skip


def test_second_thoughts_join_the_question_and_stop_words_end_it(model: Model) -> None:
    def act(stage: BenchHarness) -> None:
        _who_goes_on_while_it_thinks_is_answered_to_both_pieces(stage, model)
        _who_speaks_into_the_first_words_of_an_answer_goes_on_with_the_question(stage, model)
        _a_word_of_the_owners_own_list_ends_the_answer_and_is_no_question(stage, model)
        _never_mind_ends_a_thought_and_what_was_asked_is_forgotten(stage, model)

    remote = {"url": model.server.url, "model": "gemma", "timeout_s": 60}
    changes: dict[str, Any] = {
        "thinking": {"remote": remote},
        "hearing": {"words": {"stop": STOPS}},
        "speaking": {"grace_ms": 2000},  # a busy machine may be late to speak
    }
    parts = (*WITHOUT_THINKER, "words", "thinker")
    BenchHarness(QUIET, load_over(ENGLISH, changes), act, parts=parts).play()


def thinks(stage: BenchHarness, model: Model, requests: int) -> None:
    """Until the model has had that many before it."""
    assert stage.wait_until(lambda: len(model.server.bodies) >= requests, PATIENCE_S)


def _who_goes_on_while_it_thinks_is_answered_to_both_pieces(
    stage: BenchHarness, model: Model
) -> None:
    at = stage.card.now()
    said(stage, "tell me about")
    thinks(stage, model, 1)
    said(stage, "the sea and what lives at the very bottom of it")
    thinks(stage, model, 2)
    second, first = stage.messages_since(Think, at)
    assert [m.turn for m in stage.messages_since(Abandon, at)] == [first.turn]
    assert sum(model.asked(1)) == 1
    assert sum(model.asked(2)) == 2
    model.let.set()
    assert comes(stage, PlaybackStarted, at).turn == second.turn
    assert first.turn not in [m.turn for m in stage.messages_since(AnswerHeard, at)]


def _who_speaks_into_the_first_words_of_an_answer_goes_on_with_the_question(
    stage: BenchHarness, model: Model
) -> None:
    at = stage.card.now()
    answered = next(stage.messages_since(Think, 0))
    said(stage, "and why is it so salty and so very cold")  # at its first words
    thinks(stage, model, 3)
    assert sum(model.asked(3)) == 3
    assert comes(stage, PlaybackStarted, at).turn > answered.turn
    assert answered.turn in [m.turn for m in stage.messages_since(Abandon, at)]
    assert answered.turn not in [m.turn for m in stage.messages_since(AnswerHeard, at)]


def _a_word_of_the_owners_own_list_ends_the_answer_and_is_no_question(
    stage: BenchHarness, model: Model
) -> None:
    becomes(stage, "speaking")
    stage.wait(3.0)  # no longer its first words
    at = stage.card.now()
    model.let.clear()
    said(stage, "that will do")
    heard = comes(stage, AnswerHeard, at)
    assert heard.text.startswith("The sea is deep")
    assert not heard.complete
    becomes(stage, "idle")


def _never_mind_ends_a_thought_and_what_was_asked_is_forgotten(
    stage: BenchHarness, model: Model
) -> None:
    requests = len(model.server.bodies)
    at = stage.card.now()
    said(stage, "what is it that makes the moon so very bright")
    thinks(stage, model, requests + 1)
    said(stage, "never mind")
    assert stage.wait_until(
        lambda: len(list(stage.messages_since(SpeechStarted, at))) == 2, PATIENCE_S
    )
    becomes(stage, "idle")
    assert comes(stage, AnswerHeard, at).text == ""
    requests = len(model.server.bodies)
    said(stage, "how old are the mountains and who made them")
    thinks(stage, model, requests + 1)
    assert model.asked(requests + 1)[-1] == 1
    assert sum(model.asked(requests + 1)) == 4  # neither "that will do" nor what was taken back
    stage.send(StopSpeaking())
