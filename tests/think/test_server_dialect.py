"""Thinking switched off in each dialect: what is sent, and what a server refuses of it."""

from __future__ import annotations

import json
import logging
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest

from appliance.errors import RemoteError
from appliance.language.catalogue import catalogue
from appliance.messages.thinking import Sentence, ThoughtEnded
from appliance.think.history import History
from appliance.think.interface import AnswerMetrics
from appliance.think.remote import RemoteModel
from appliance.think.server_dialect import OFF, ServerDialect
from appliance.think.session import ModelSession
from tests.think.test_remote import (
    Reply,
    Server,
    ask,
    hang,
    refuse,
    said,
    server,
    stream,
    thinking,
    words,
)

__all__ = ["server"]  # the fixture

YES = stream(said("Yes."), said("", "stop"))


def strict(*known: str, status: int = 400, naming: bool = True) -> Reply:
    """Refuses each of our fields that is not in `known`, and names it or not."""

    def reply(request: BaseHTTPRequestHandler) -> None:
        body = BODIES[request.server][-1]
        unknown = [name for name in OFF if name in body and name not in known]
        if not unknown:
            return YES(request)
        words = f"Unrecognized request argument supplied: {unknown[0]}" if naming else "Bad request"
        return refuse(status, json.dumps({"error": {"message": words}}))(request)

    return reply


BODIES: dict[Any, list[dict[str, Any]]] = {}


@pytest.fixture(autouse=True)
def _bodies(server: Server) -> None:
    BODIES[server.http] = server.bodies


def ours(body: dict[str, Any]) -> set[str]:
    return set(OFF) & set(body)


def logged(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.name == "thinker"]


def questions(model: RemoteModel, count: int) -> list[str]:
    history = History()
    history.add_turn(1, text="hi")
    return [words(model.answer(history, AnswerMetrics())) for _ in range(count)]


def test_thinking_is_switched_off_in_every_dialect(server: Server) -> None:
    server.reply = YES
    assert ask(server.url)[0] == "Yes."
    (body,) = server.bodies
    assert body["reasoning_effort"] == "none"
    assert body["chat_template_kwargs"] == {"enable_thinking": False}
    assert body["think"] is False


@pytest.mark.parametrize("status", [400, 422])
@pytest.mark.parametrize("known", [(), ("reasoning_effort",), ("think", "reasoning_effort")])
def test_a_server_that_refuses_a_field_is_asked_without_it_and_answers(
    server: Server, known: tuple[str, ...], status: int, caplog: pytest.LogCaptureFixture
) -> None:
    server.reply = strict(*known, status=status)
    model = RemoteModel(thinking(server.url))
    with caplog.at_level(logging.INFO, "thinker"):
        assert questions(model, 3) == ["Yes."] * 3
    model.close()
    asked = [ours(body) for body in server.bodies]
    assert asked[-3:] == [set(known)] * 3  # remembered: each later question is one request
    assert len(asked) == 3 + len(OFF) - len(known)
    (line,) = logged(caplog)
    assert all((name in line) is (name not in known) for name in OFF)


def test_a_server_that_names_nothing_is_asked_once_more_without_any_field(server: Server) -> None:
    server.reply = strict(naming=False)
    assert ask(server.url)[0] == "Yes."
    assert [ours(body) for body in server.bodies] == [set(OFF), set()]


def test_a_refusal_for_another_reason_is_said_and_no_field_is_given_up(server: Server) -> None:
    server.reply = refuse(400, '{"error": {"message": "audio input is not supported"}}')
    model = RemoteModel(thinking(server.url))
    with pytest.raises(RemoteError, match="HTTP 400: audio input is not supported"):
        questions(model, 1)
    assert len(server.bodies) == 2
    server.reply = YES
    assert questions(model, 1) == ["Yes."]
    model.close()
    assert ours(server.bodies[-1]) == set(OFF)


@pytest.mark.parametrize("status", [401, 404, 500, 503])
def test_a_refusal_that_no_field_can_have_caused_is_not_asked_twice(
    server: Server, status: int
) -> None:
    server.reply = refuse(status, "think")
    with pytest.raises(RemoteError):
        ask(server.url)
    assert len(server.bodies) == 1


def test_a_field_is_named_as_a_whole_word_only() -> None:
    dialect = ServerDialect()
    assert dialect.fields_for_retry({"think": False, "a": 1}, 400, b"no thinking here") == {}
    assert dialect.fields_for_retry({"think": False, "a": 1}, 400, b"`think`: unknown") == {"a": 1}
    assert dialect.fields_for_retry({}, 400, b"think") is None


# ── a server that thinks all the same ────────────────────────────────────────────────────────
def thought(text: str, field: str) -> str:
    choice = {"index": 0, "delta": {"content": "", field: text}, "finish_reason": None}
    return "data: " + json.dumps({"choices": [choice]})


FIELDS = ["reasoning_content", "reasoning"]  # llama-server's; Ollama's


@pytest.mark.parametrize("field", FIELDS)
def test_thoughts_are_not_said_and_the_log_tells_of_them_once(
    server: Server, field: str, caplog: pytest.LogCaptureFixture
) -> None:
    server.reply = stream(thought("The user says hi.", field), said("Hello."), said("", "stop"))
    model = RemoteModel(thinking(server.url))
    assert questions(model, 3) == ["Hello."] * 3
    model.close()
    (line,) = logged(caplog)
    assert "127.0.0.1 thinks before it answers" in line
    assert "thinking.remote.model" in line


@pytest.mark.parametrize(
    "lines",
    [(thought("hm", "reasoning_content"),), (thought("hm", "reasoning"),),
     (said("<think>what could that be?"),), (said("<|channel>thought\nwhat is it?<channel|>"),)],
)  # fmt: skip
@pytest.mark.parametrize("reason", ["stop", "length"])
def test_an_answer_of_thoughts_alone_is_an_error_that_names_server_and_setting(
    server: Server, lines: tuple[str, ...], reason: str
) -> None:
    server.reply = stream(*lines, said("", reason))
    with pytest.raises(RemoteError, match=r"127\.0\.0\.1 thinks instead.*thinking\.remote") as got:
        ask(server.url)
    assert "thinks" in got.value.aloud


def test_an_empty_thought_is_none(server: Server, caplog: pytest.LogCaptureFixture) -> None:
    server.reply = stream(
        thought("", "reasoning"), thought("\n", "reasoning_content"),
        said("<|channel>thought\n<channel|>Hello."), said("", "stop"),
    )  # fmt: skip
    assert ask(server.url)[0] == "Hello."
    assert not logged(caplog)


@pytest.mark.process
def test_thoughts_that_come_to_no_end_are_named_when_patience_ends(server: Server) -> None:
    server.reply = hang(20, thought("hm", "reasoning_content"))
    with pytest.raises(RemoteError, match="thinks instead of answering"):
        ask(server.url, timeout_s=0.2)


# ── what the owner is told ───────────────────────────────────────────────────────────────────
def test_what_a_server_refused_is_told_in_words_to_be_said(server: Server) -> None:
    server.reply = refuse(500, '{"error": {"message": "audio input is not supported"}}')
    told: list[Any] = []
    model = RemoteModel(thinking(server.url))
    session = ModelSession(model, told.append)
    session.think(1, (), "hi", 0.0)
    (end,) = told
    assert isinstance(end, ThoughtEnded)
    assert end.reason == "failed"
    assert "audio input is not supported" in end.problem
    assert catalogue("en").say(end.aloud).startswith("My model server takes no sound.")
    server.reply = YES
    session.think(2, (), "hi", 0.0)
    assert [type(message) for message in told[1:]] == [Sentence, ThoughtEnded]
    assert told[-1].aloud == ""
    model.close()
