"""Switching off a model's thinking in each server dialect, and refusals of these fields."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
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
    chunk,
    hang,
    refuse,
    server,
    stream,
    thinking,
    words,
)

__all__ = ["server"]  # the fixture

YES = stream(chunk("Yes."), chunk("", "stop"))


def strict(*known: str, status: int = 400, naming: bool = True) -> Reply:
    """Refuse each of our fields that is not in `known`; `naming`: name it in the error."""

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
def _bodies(server: Server) -> Iterator[None]:
    BODIES[server.http] = server.bodies
    yield
    del BODIES[server.http]


def thinking_fields(body: dict[str, Any]) -> set[str]:
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
def test_a_refused_field_is_left_out_from_then_on(
    server: Server, known: tuple[str, ...], status: int, caplog: pytest.LogCaptureFixture
) -> None:
    server.reply = strict(*known, status=status)
    model = RemoteModel(thinking(server.url))
    with caplog.at_level(logging.INFO, "thinker"):
        assert questions(model, 3) == ["Yes."] * 3
    model.close()
    asked = [thinking_fields(body) for body in server.bodies]
    assert asked[-3:] == [set(known)] * 3  # remembered: each later question is one request
    assert len(asked) == 3 + len(OFF) - len(known)
    (line,) = logged(caplog)
    assert all((name in line) is (name not in known) for name in OFF)


def test_after_a_refusal_without_a_name_all_fields_are_left_out(server: Server) -> None:
    server.reply = strict(naming=False)
    assert ask(server.url)[0] == "Yes."
    assert [thinking_fields(body) for body in server.bodies] == [set(OFF), set()]


def test_a_refusal_for_another_reason_raises_and_keeps_the_fields(server: Server) -> None:
    server.reply = refuse(400, '{"error": {"message": "audio input is not supported"}}')
    model = RemoteModel(thinking(server.url))
    with pytest.raises(RemoteError, match="HTTP 400: audio input is not supported"):
        questions(model, 1)
    assert len(server.bodies) == 2
    server.reply = YES
    assert questions(model, 1) == ["Yes."]
    model.close()
    assert thinking_fields(server.bodies[-1]) == set(OFF)


@pytest.mark.parametrize("status", [401, 404, 500, 503])
def test_a_refusal_that_no_field_can_have_caused_is_not_retried(
    server: Server, status: int
) -> None:
    server.reply = refuse(status, "think")
    with pytest.raises(RemoteError):
        ask(server.url)
    assert len(server.bodies) == 1


def test_a_field_is_recognised_only_as_a_whole_word() -> None:
    dialect = ServerDialect()
    assert dialect.fields_for_retry({"think": False, "a": 1}, 400, b"no thinking here") == {}
    assert dialect.fields_for_retry({"think": False, "a": 1}, 400, b"`think`: unknown") == {"a": 1}
    assert dialect.fields_for_retry({}, 400, b"think") is None


# ── a server that still thinks ───────────────────────────────────────────────────────────────────
def thought(text: str, field: str) -> str:
    choice = {"index": 0, "delta": {"content": "", field: text}, "finish_reason": None}
    return "data: " + json.dumps({"choices": [choice]})


FIELDS = ["reasoning_content", "reasoning"]  # llama-server's; Ollama's


@pytest.mark.parametrize("field", FIELDS)
def test_thoughts_are_not_spoken_and_are_logged_once(
    server: Server, field: str, caplog: pytest.LogCaptureFixture
) -> None:
    server.reply = stream(thought("The user says hi.", field), chunk("Hello."), chunk("", "stop"))
    model = RemoteModel(thinking(server.url))
    assert questions(model, 3) == ["Hello."] * 3
    model.close()
    (line,) = logged(caplog)
    assert "127.0.0.1 thinks before it answers" in line
    assert "thinking.remote.model" in line


@pytest.mark.parametrize(
    "lines",
    [(thought("hm", "reasoning_content"),), (thought("hm", "reasoning"),),
     (chunk("<think>what could that be?"),), (chunk("<|channel>thought\nwhat is it?<channel|>"),)],
)  # fmt: skip
@pytest.mark.parametrize("reason", ["stop", "length"])
def test_an_answer_of_thoughts_only_raises_with_server_and_setting(
    server: Server, lines: tuple[str, ...], reason: str
) -> None:
    server.reply = stream(*lines, chunk("", reason))
    with pytest.raises(RemoteError, match=r"127\.0\.0\.1 thinks instead.*thinking\.remote") as got:
        ask(server.url)
    assert "thinks" in got.value.aloud


def test_an_empty_thought_is_ignored(server: Server, caplog: pytest.LogCaptureFixture) -> None:
    server.reply = stream(
        thought("", "reasoning"), thought("\n", "reasoning_content"),
        chunk("<|channel>thought\n<channel|>Hello."), chunk("", "stop"),
    )  # fmt: skip
    assert ask(server.url)[0] == "Hello."
    assert not logged(caplog)


@pytest.mark.process
def test_endless_thoughts_are_named_in_the_timeout_error(server: Server) -> None:
    server.reply = hang(20, thought("hm", "reasoning_content"))
    with pytest.raises(RemoteError, match="thinks instead of answering"):
        ask(server.url, timeout_s=0.2)


# ── errors for the owner ─────────────────────────────────────────────────────────────────────────
def test_a_servers_refusal_has_a_spoken_sentence(server: Server) -> None:
    server.reply = refuse(500, '{"error": {"message": "audio input is not supported"}}')
    sent: list[Any] = []
    model = RemoteModel(thinking(server.url))
    session = ModelSession(model, sent.append)
    session.think(1, (), "hi", 0.0)
    (end,) = sent
    assert isinstance(end, ThoughtEnded)
    assert end.reason == "failed"
    assert "audio input is not supported" in end.problem
    assert catalogue("en").say(end.aloud).startswith("My model server takes no sound.")
    server.reply = YES
    session.think(2, (), "hi", 0.0)
    assert [type(message) for message in sent[1:]] == [Sentence, ThoughtEnded]
    assert sent[-1].aloud == ""
    model.close()
