"""A broken or malicious model server: no answer fills the memory or goes on forever."""

from __future__ import annotations

import base64
import contextlib
import json
import time
import zlib
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from appliance.errors import RemoteError
from appliance.think.history import History
from appliance.think.interface import AnswerMetrics
from appliance.think.remote import LETTERS_A_TOKEN, RemoteModel
from appliance.think.server_sent_events import MOST_ANSWER_BYTES
from tests.memory_peak import Peak
from tests.think.test_remote import Reply, Server, ask, chunk, server, stream, thinking, words

__all__ = ["server"]  # the fixture

MOST_MIB = 24  # above the process's own memory; the promised limit is 64


def without_end(
    piece: bytes, status: int = 200, headers: dict[str, str] | None = None, every_s: float = 0.0
) -> Reply:
    """Send this piece again and again until the client has left."""

    def reply(request: BaseHTTPRequestHandler) -> None:
        request.send_response(status)
        for name, value in (headers or {}).items():
            request.send_header(name, value)
        request.end_headers()
        while True:
            request.wfile.write(piece)
            request.wfile.flush()
            time.sleep(every_s)

    return reply


def zipped(request: BaseHTTPRequestHandler) -> None:
    """200 MB in 200 kB, compressed in pieces, since the test measures this process's memory."""
    squeezer, piece = zlib.compressobj(wbits=31), b"x" * 1_000_000
    bomb = b"".join([squeezer.compress(b": "), *(squeezer.compress(piece) for _ in range(200))])
    without_end(bomb + squeezer.flush(), headers={"Content-Encoding": "gzip"})(request)


WORDS = (chunk("word " * 50) + "\n\n").encode()
ENDLESS: list[tuple[str, Reply, str]] = [
    ("error", without_end(b"no " * 10_000, 500), "refused with HTTP 500"),
    ("error in JSON", without_end(b'{"error": "' + b"n" * 10_000, 429), "refused with HTTP 429"),
    ("line", without_end(b"x" * 10_000), "a line without end"),
    ("comments", without_end(b": still here\n" * 1000), "an answer without end"),
    ("blank lines", without_end(b"\n" * 10_000), "an answer without end"),
    ("zipped", zipped, "is no answer"),
    ("deep", stream("data: " + "[" * 90_000), "is no answer"),
    ("deep error", stream('data: {"error": ' + '{"a":' * 9000 + "1" + "}" * 9001), "is no answer"),
    ("no UTF-8", without_end(b"\xff" * 10_000), "a line without end"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("reply", "problem"), [row[1:] for row in ENDLESS], ids=[r[0] for r in ENDLESS]
)
@pytest.mark.long
def test_an_endless_response_is_closed_soon_and_in_little_memory(
    server: Server, reply: Reply, problem: str
) -> None:
    server.reply = reply
    peak, began_s = Peak(), time.monotonic()
    with pytest.raises(RemoteError, match=problem):
        ask(server.url, timeout_s=20.0)
    assert time.monotonic() - began_s < 10  # for a busy machine; less than the timeout of 20 s
    assert peak.mib < MOST_MIB


def test_an_endless_answer_is_cut_at_the_limit(server: Server) -> None:
    server.reply = without_end(WORDS)
    text, effort = ask(server.url, answer_tokens=100)
    assert effort.limited
    assert LETTERS_A_TOKEN * 100 <= len(text) <= LETTERS_A_TOKEN * 100 + 250
    assert server.left.wait(5)


def test_the_longest_legitimate_answer_is_accepted(server: Server) -> None:
    usage = 'data: {"choices": [], "usage": {"note": "' + "u" * 1500 + '"}}'
    server.reply = stream(*[chunk("words "), usage] * 1000, chunk("", "stop"))
    text, effort = ask(server.url, answer_tokens=400)
    assert (text, effort.limited) == ("words " * 1000, False)
    assert 2 * 1000 * (len(usage) + len(chunk("words "))) < MOST_ANSWER_BYTES


@pytest.mark.parametrize(
    "piece",
    [b": still here\n", b"\n", (chunk("") + "\n").encode()],
    ids=["comment", "line", "none"],
)
def test_lines_without_text_count_as_silence(server: Server, piece: bytes) -> None:
    server.reply = without_end(piece, every_s=0.02)
    with pytest.raises(RemoteError, match=r"has said nothing for 0\.3 s"):
        ask(server.url, timeout_s=0.3, connect_s=0.2)
    assert server.left.wait(5)


def test_slowly_sent_headers_count_as_silence(server: Server) -> None:
    def drip(request: BaseHTTPRequestHandler) -> None:
        for letter in b"HTTP/1.1 200 OK\r\nX-Long: " + b"x" * 10_000:
            request.wfile.write(bytes([letter]))
            request.wfile.flush()
            time.sleep(0.02)

    server.reply = drip
    with pytest.raises(RemoteError, match="has said nothing"):
        ask(server.url, timeout_s=0.3, connect_s=0.2)


def test_a_slowly_sent_answer_is_limited_in_time(server: Server) -> None:
    server.reply = without_end((chunk("a") + "\n\n").encode(), every_s=0.02)
    with pytest.raises(RemoteError, match="comes to no end"):
        ask(server.url, longest_s=0.6)
    assert server.left.wait(5)


def test_a_call_with_an_invalid_index_raises_remote_error(server: Server) -> None:
    call = b'{"index": 1e999, "function": {"name": "time", "arguments": "{}"}}'
    event = b'data: {"choices": [{"delta": {"tool_calls": [%s]}}]}\n\n' % call
    server.reply = reply_with(event)
    with pytest.raises(RemoteError):
        ask(server.url)


def test_half_a_surrogate_pair_becomes_a_question_mark(server: Server) -> None:
    server.reply = stream(chunk("A \ud83d half."), chunk("", "stop"))
    text, _ = ask(server.url)
    assert text == "A ? half."


def test_a_login_in_the_address_is_used_and_never_shown(server: Server) -> None:
    url = server.url.replace("http://", "http://user:s3cret@") + "?key=s3cret"
    model, history = RemoteModel(thinking(url)), History()
    history.add_turn(1, text="hi")
    server.reply = stream(chunk("Yes."), chunk("", "stop"))
    assert list(model.answer(history, AnswerMetrics()))
    login = base64.b64encode(b"user:s3cret").decode()
    assert server.headers[0]["Authorization"] == f"Basic {login}"
    assert model.name == f"gemma at 127.0.0.1:{server.http.server_port}"
    server.reply = without_end(b"no" * 1000, 401)
    with pytest.raises(RemoteError) as refused:
        list(model.answer(history, AnswerMetrics()))
    assert "s3cret" not in str(refused.value)
    model.close()


def reply_with(body: bytes) -> Callable[[BaseHTTPRequestHandler], None]:
    def reply(request: BaseHTTPRequestHandler) -> None:
        request.send_response(200)
        request.end_headers()
        request.wfile.write(body)

    return reply


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4)
    | st.dictionaries(
        st.sampled_from(
            ("choices", "delta", "content", "tool_calls", "function", "name", "arguments", "index",
             "error", "message", "finish_reason")
        ), inner, max_size=4,
    ),
    max_leaves=20,
)  # fmt: skip


@pytest.fixture
def model(server: Server) -> Iterator[RemoteModel]:
    model = RemoteModel(thinking(server.url))
    yield model
    model.close()


@given(events=st.lists(JSON.map(json.dumps).map(str.encode) | st.binary(max_size=60), max_size=6))
@settings(
    deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@pytest.mark.long
def test_any_response_gives_words_calls_or_remote_error(
    server: Server, model: RemoteModel, events: list[bytes]
) -> None:
    server.reply = reply_with(b"".join(b"data: " + event + b"\n\n" for event in events))
    history = History()
    history.add_turn(1, text="hi")
    with contextlib.suppress(RemoteError):
        words(model.answer(history, AnswerMetrics())).encode()
