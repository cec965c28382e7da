"""Error responses of servers: the server's words, the setting to change, the spoken sentence."""

from __future__ import annotations

import json
from typing import Any

import pytest

from appliance.language.catalogue import english
from appliance.think import server_errors
from appliance.think.server_errors import MOST_SAID, error_text, refused

# (HTTP status, body, words of the server that are shown, the setting, words of the spoken sentence)
ROWS: list[tuple[int, Any, str, str, str]] = [
    (401, {"error": {"message": "Invalid API Key", "code": 401}}, "Invalid API Key",
     "thinking.remote.key_file", "key"),
    (404, {"error": {"message": "model 'gemma4' not found"}}, "model 'gemma4' not found",
     "thinking.remote.model", "does not know"),
    (500, {"error": {"message": "audio input is not supported - hint: if this is unexpected, you "
                                "may need to provide the mmproj"}},
     "audio input is not supported", "thinking.remote.model", "takes no sound"),
    (400, {"error": {"message": "invalid message format"}}, "invalid message format",
     "thinking.remote.model", "takes no sound"),
    (400, {"error": {"message": "request (9000 tokens) exceeds the available context size"}},
     "9000 tokens", "thinking.history_tokens", "too long"),
    (400, {"error": "registry.ollama.ai/library/x does not support tools"}, "support tools",
     "thinking.remote.model", "tools"),
    (400, {"object": "error", "message": "The model `x` does not exist."}, "does not exist",
     "thinking.remote.model", "does not know that model"),
    (422, {"detail": [{"loc": ["body", "seed"], "msg": "Extra inputs are not permitted",
                       "input": "what the owner said"}]},
     "body.seed Extra inputs are not permitted", "thinking.remote", "refused"),
    (503, "Loading model", "Loading model", "thinking.remote", "refused"),
    (429, {"error": {"message": "slow down"}}, "slow down", "thinking.remote.url", "busy"),
]  # fmt: skip


@pytest.mark.parametrize(("status", "body", "words", "setting", "aloud"), ROWS)
def test_a_refusal_names_the_server_its_words_and_the_setting(
    status: int, body: Any, words: str, setting: str, aloud: str
) -> None:
    data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
    error = refused("192.168.1.5", status, data)
    assert "192.168.1.5" in error.problem
    assert str(status) in error.problem
    assert words in error.problem
    assert setting in error.remedy
    assert aloud in english().say(error.aloud)
    assert len(english().say(error.aloud).split()) <= 14  # brief


def test_a_part_of_the_request_in_an_error_is_not_shown() -> None:
    detail = [{"loc": ["body"], "msg": "Extra inputs", "input": {"messages": "my diary"}}]
    assert "diary" not in error_text(json.dumps({"detail": detail}).encode())


@pytest.mark.parametrize(
    "body",
    [b"", b"<html><body>Bad gateway</body></html>", b'{"choices": []}', b"[]", b"null", b"{",
     b"\xff\xfe\x00", b'{"error": ' * 3000 + b"1" + b"}" * 3000, b'{"detail": [1, [2], null]}'],
)  # fmt: skip
def test_a_refusal_without_usable_words_still_has_a_sentence(body: bytes) -> None:
    error = refused("here", 400, body)
    assert error.problem.startswith("The model server here refused with HTTP 400")
    assert "<" not in error.problem
    assert "\n" not in str(error)
    assert len(error.problem) < MOST_SAID + 100
    assert error.remedy
    assert error.aloud in english()


def test_an_error_within_a_stream_is_handled_like_a_refusal() -> None:
    error = server_errors.reported("here", {"message": "audio input is not supported", "code": 500})
    assert "reports: audio input is not supported" in error.problem
    assert "takes no sound" in english().say(error.aloud)
