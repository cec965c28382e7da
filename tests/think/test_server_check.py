"""`interlude check` tests the owner's model server with a second of sound."""

from __future__ import annotations

import base64
import io
import wave
from pathlib import Path
from typing import Any

import pytest

from appliance.runtime.diagnostics import Finding
from appliance.settings import load
from appliance.think.server_check import try_server
from tests.think.test_remote import Reply, Server, chunk, refuse, server, stream
from tests.think.test_server_dialect import thought

__all__ = ["server"]  # the fixture


def check(server: Server, tmp_path: Path, **remote: Any) -> Finding:
    settings = load(
        Path("/dev/null"),
        {"state_dir": str(tmp_path), "thinking": {"remote": {"url": server.url, **remote}}},
    )
    return try_server(settings)


def test_a_server_that_accepts_sound_is_ok(server: Server, tmp_path: Path) -> None:
    server.reply = stream(chunk("Yes."), chunk("", "stop"))
    found = check(server, tmp_path)
    assert (found.looked_at, found.verdict) == ("model server", "ok")
    assert f"127.0.0.1:{server.http.server_port} takes sound" in found.sentence
    (body,) = server.bodies
    sound = body["messages"][-1]["content"][0]["input_audio"]["data"]
    with wave.open(io.BytesIO(base64.b64decode(sound))) as wav:
        assert wav.getnframes() == 16_000


def test_a_server_with_an_empty_answer_is_ok(server: Server, tmp_path: Path) -> None:
    server.reply = stream(chunk("", "stop"))
    assert check(server, tmp_path).verdict == "ok"


ROWS: list[tuple[Reply, str, str, str]] = [
    (refuse(500, '{"error": {"message": "audio input is not supported"}}'),
     "problem", "audio input is not supported", "thinking.remote.model"),
    (refuse(404, '{"error": {"message": "model not found"}}'),
     "problem", "model not found", "thinking.remote.url"),
    (refuse(401), "problem", "HTTP 401", "thinking.remote.key_file"),
    (stream(thought("hm", "reasoning"), chunk("Yes."), chunk("", "stop")),
     "warning", "thinks before it answers", "thinking.remote.model"),
    (stream(thought("hm", "reasoning"), chunk("", "length")),
     "problem", "thinks instead of answering", "thinking.remote.model"),
]  # fmt: skip


@pytest.mark.parametrize(("reply", "verdict", "words", "setting"), ROWS)
def test_each_server_problem_is_a_finding_with_its_setting(
    server: Server, tmp_path: Path, reply: Reply, verdict: str, words: str, setting: str
) -> None:
    server.reply = reply
    found = check(server, tmp_path)
    assert found.verdict == verdict
    assert "127.0.0.1" in found.sentence
    assert words in found.sentence
    assert setting in found.remedy


def test_a_missing_key_file_is_a_finding(server: Server, tmp_path: Path) -> None:
    found = check(server, tmp_path, key_file=str(tmp_path / "none"))
    assert (found.verdict, "thinking.remote.key_file" in found.sentence) == ("problem", True)
