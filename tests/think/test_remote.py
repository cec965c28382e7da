"""A model on a server: the request, the answer, and the errors that servers make."""

from __future__ import annotations

import json
import ssl
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import certifi
import msgspec
import numpy as np
import pytest

from appliance.errors import RemoteError, SettingsError
from appliance.settings import ThinkingSettings, load_defaults
from appliance.think.abandoned import AnswerAbandoned
from appliance.think.history import History, SpeechClip
from appliance.think.interface import AnswerMetrics
from appliance.think.remote import CONNECT_S, LONGEST_S, RemoteModel, read_key
from appliance.tools.table import TOOLS
from appliance.tools.tool_call_syntax import BadToolCall, ToolCall
from tests.certificates import Authority

Reply = Callable[[BaseHTTPRequestHandler], None]


class Server:
    """A model server on this machine. `reply` answers requests; `bodies`: the received requests."""

    def __init__(self) -> None:
        self.reply: Reply = lambda request: None
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.left = threading.Event()  # the client has closed the connection
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                server.paths.append(self.path)
                server.headers.append(dict(self.headers))
                length = int(self.headers["Content-Length"])
                server.bodies.append(json.loads(self.rfile.read(length)))
                try:
                    server.reply(self)
                except (BrokenPipeError, ConnectionResetError):
                    server.left.set()

            def log_message(self, *_: object) -> None:
                """Log nothing."""

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        threading.Thread(target=self.http.serve_forever, args=(0.02,), daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.http.server_port}/v1"


@pytest.fixture
def server() -> Iterator[Server]:
    running = Server()
    yield running
    running.http.shutdown()
    running.http.server_close()


def stream(*lines: str, done: bool = True) -> Reply:
    def reply(request: BaseHTTPRequestHandler) -> None:
        request.send_response(200)
        request.send_header("Content-Type", "text/event-stream")
        request.end_headers()
        for line in (*lines, *(("data: [DONE]",) if done else ())):
            request.wfile.write(f"{line}\n\n".encode())
            request.wfile.flush()

    return reply


def chunk(text: str, reason: str | None = None) -> str:
    choice = {"index": 0, "delta": {"content": text}, "finish_reason": reason}
    return "data: " + json.dumps({"choices": [choice]})


def refuse(status: int, body: str = "") -> Reply:
    def reply(request: BaseHTTPRequestHandler) -> None:
        request.send_response(status)
        request.end_headers()
        request.wfile.write(body.encode())

    return reply


def hang(seconds: float, *lines: str) -> Reply:
    """Send these lines, then nothing for so many seconds."""

    def reply(request: BaseHTTPRequestHandler) -> None:
        if lines:
            stream(*lines, done=False)(request)
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            time.sleep(0.02)
            if lines:
                request.wfile.write(b": still here\n")  # a comment; fails once the client has left
                request.wfile.flush()

    return reply


def thinking(
    url: str, timeout_s: float = 5.0, key_file: str = "", **changes: Any
) -> ThinkingSettings:
    plain = load_defaults().thinking
    remote = msgspec.structs.replace(
        plain.remote, url=url, model="gemma", timeout_s=timeout_s, key_file=key_file
    )
    return msgspec.structs.replace(plain, remote=remote, persona="Be kind.", **changes)


def pieces_of(
    url: str,
    history: History | None = None,
    connect_s: float = CONNECT_S,
    longest_s: float = LONGEST_S,
    **changes: Any,
) -> tuple[list[str | ToolCall | BadToolCall], AnswerMetrics]:
    """The pieces of the answer."""
    model = RemoteModel(thinking(url, **changes), TOOLS, connect_s, longest_s)
    effort = AnswerMetrics()
    if history is None:
        history = History()
        history.add_turn(1, text="hi")
    try:
        return list(filter(None, model.answer(history, effort))), effort
    finally:
        model.close()


def words(pieces: Iterable[object]) -> str:
    return "".join(piece for piece in pieces if isinstance(piece, str))


def ask(url: str, history: History | None = None, **changes: Any) -> tuple[str, AnswerMetrics]:
    pieces, effort = pieces_of(url, history, **changes)
    return words(pieces), effort


def test_the_pieces_of_a_stream_are_joined_to_the_answer(server: Server) -> None:
    server.reply = stream(
        ": a comment", chunk("Hel"), chunk("lo."), chunk("", "stop"),
        'data: {"choices": [], "usage": {}}',
    )  # fmt: skip
    text, effort = ask(server.url)
    assert text == "Hello."
    assert (effort.tokens, effort.limited) == (2, False)
    assert server.paths == ["/v1/chat/completions"]


def test_the_oldest_turns_beyond_the_budget_are_not_sent(server: Server) -> None:
    history = History()
    for number in range(5):
        clip = SpeechClip(number, np.zeros(32_000, np.int16))
        history.add_turn(number, [clip]).answer = "Yes."
    history.add_turn(9, text="hi")
    server.reply = stream(chunk("Yes."), chunk("", "stop"))
    ask(server.url, history, history_tokens=128)
    asked = [m["role"] for m in server.bodies[0]["messages"]].count("user")
    assert asked == len(history.turns) == 3


def test_an_answer_cut_at_its_limit_is_marked_limited(server: Server) -> None:
    server.reply = stream(chunk("Hello"), chunk("", "length"))
    assert ask(server.url)[1].limited


def test_thoughts_in_the_text_are_left_out(server: Server) -> None:
    server.reply = stream(chunk("<thi"), chunk("nk>hm</think>He"), chunk("llo."), chunk("", "stop"))
    assert ask(server.url)[0] == "Hello."


def call_chunk(index: int, name: str | None = None, arguments: str = "") -> str:
    """An event with a part of a tool call."""
    call = {"index": index, "function": {"name": name, "arguments": arguments}}
    choice = {"index": 0, "delta": {"content": None, "tool_calls": [call]}}
    return "data: " + json.dumps({"choices": [choice]})


def test_a_call_comes_between_the_words_before_and_after_it(server: Server) -> None:
    server.reply = stream(
        chunk("Sure. "), call_chunk(0, "timer"), call_chunk(0, None, '{"minutes"'),
        call_chunk(0, None, ": 5}"), call_chunk(1, "time", "{}"), chunk("", "tool_calls"),
    )  # fmt: skip
    calls = [ToolCall("timer", {"minutes": 5}), ToolCall("time")]
    assert pieces_of(server.url)[0] == ["Sure. ", *calls]
    server.reply = stream(
        chunk("Sure. <|tool_"), chunk("call>call:time{}<tool_call|>Done."), chunk("", "stop")
    )
    assert pieces_of(server.url)[0] == ["Sure. ", ToolCall("time"), "Done."]


def test_a_transcription_is_requested_without_the_conversation(
    server: Server,
) -> None:
    server.reply = stream(chunk("Tell me about\n"), chunk("the moon."), chunk("", "stop"))
    model = RemoteModel(thinking(server.url), TOOLS)
    clips = [SpeechClip(number, np.zeros(16_000, np.int16)) for number in range(2)]
    assert model.transcribe(clips) == "Tell me about the moon."
    (body,) = server.bodies
    assert len(body["messages"]) == 1
    server.reply = stream(chunk("and and and"), chunk("", "length"))
    assert model.transcribe(clips) == ""  # cut off: the model repeats itself
    model.close()


def test_the_key_is_sent_and_only_from_a_private_file(server: Server, tmp_path: Path) -> None:
    key = tmp_path / "key"
    key.write_text("secret\n")
    key.chmod(0o644)
    with pytest.raises(SettingsError, match=r"others can read .* \(mode 644\).*chmod 600"):
        ask(server.url, key_file=str(key))
    key.chmod(0o600)
    server.reply = stream(chunk("Yes."), chunk("", "stop"))
    ask(server.url, key_file=str(key))
    assert server.headers[0]["Authorization"] == "Bearer secret"


@pytest.mark.parametrize("content", [b"", b"\n", b"two words", b"\xff\xfe", b"two\nlines"])
def test_a_key_file_without_a_key_is_refused(tmp_path: Path, content: bytes) -> None:
    key = tmp_path / "key"
    key.write_bytes(content)
    key.chmod(0o600)
    with pytest.raises(SettingsError, match="does not hold a key"):
        read_key(key)


def test_a_missing_key_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"none cannot be read \(No such file"):
        read_key(tmp_path / "none")


@pytest.mark.parametrize("url", ["192.168.1.5:8080", "ftp://a/v1", "http://", "http://a:b/v1"])
def test_an_invalid_address_is_refused(url: str) -> None:
    with pytest.raises(SettingsError, match="no address"):
        RemoteModel(thinking(url))


WRONG: list[tuple[str, Reply, str]] = [
    ("401", refuse(401, '{"error": {"message": "Invalid API Key"}}'),
     r"refused with HTTP 401: Invalid API Key\. Check the key"),
    ("404", refuse(404, "not found"), r"HTTP 404: not found\. Check `thinking.remote.url`"),
    ("500", refuse(500, '{"error": "out of\\nmemory"}'), "HTTP 500: out of memory"),
    ("cut", stream(chunk("One."), done=False), "broke off its answer"),
    ("silent", hang(1.5), r"has said nothing for 0\.3 s"),
    ("no json", stream("data: {oops"), "something that is no answer"),
    ("no choices", stream('data: {"choice": 1}'), "something that is no answer"),
    ("a list", stream("data: [1]"), "something that is no answer"),
    ("a number", stream('data: {"choices": [5]}'), "something that is no answer"),
    ("error", stream('data: {"error": {"message": "audio input is not supported"}}'),
     "reports: audio input is not supported"),
    ("html", stream("<html><body>Welcome</body></html>", done=False), "broke off its answer"),
    ("endless line", stream("data: " + "x" * 1_100_000), "sends a line without end"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("reply", "problem"), [row[1:] for row in WRONG], ids=[r[0] for r in WRONG]
)
def test_each_server_error_is_reported_in_one_sentence(
    server: Server, reply: Reply, problem: str
) -> None:
    server.reply = reply
    with pytest.raises(RemoteError, match=problem) as caught:
        ask(server.url, timeout_s=0.3)
    assert "\n" not in str(caught.value)


def test_an_unreachable_server_is_reported_as_unreachable(server: Server) -> None:
    url = server.url
    server.http.shutdown()
    server.http.server_close()
    with pytest.raises(RemoteError, match="cannot be reached"):
        ask(url)


@pytest.mark.parametrize("lines", [(), (chunk("One."),)], ids=["before it begins", "midway"])
def test_interruption_closes_the_stream_at_once(server: Server, lines: tuple[str, ...]) -> None:
    server.reply = hang(10, *lines)
    model, history = RemoteModel(thinking(server.url)), History()
    history.add_turn(1, text="hi")
    threading.Timer(0.2, model.interrupt).start()
    began_s = time.monotonic()
    with pytest.raises(AnswerAbandoned):
        list(model.answer(history, AnswerMetrics()))
    assert time.monotonic() - began_s < 2
    assert not lines or server.left.wait(2)  # the server notices and can stop computing
    model.resume()
    server.reply = stream(chunk("Yes."), chunk("", "stop"))
    assert words(model.answer(history, AnswerMetrics())) == "Yes."
    model.close()


def test_a_late_interruption_does_not_affect_the_next_answer(server: Server) -> None:
    server.reply = stream(chunk("Yes."), chunk("", "stop"))
    model, history = RemoteModel(thinking(server.url)), History()
    history.add_turn(1, text="hi")
    assert words(model.answer(history, AnswerMetrics())) == "Yes."
    model.interrupt()
    model.resume()
    assert words(model.answer(history, AnswerMetrics())) == "Yes."
    model.interrupt()
    with pytest.raises(AnswerAbandoned):
        list(model.answer(history, AnswerMetrics()))
    model.close()


@pytest.mark.process
@pytest.mark.parametrize("known", [True, False])
def test_over_https_only_a_server_with_a_known_authority_gets_a_request(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, known: bool
) -> None:
    authority = Authority(tmp_path)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(*authority.issue("localhost"))
    server.http.socket = context.wrap_socket(server.http.socket, server_side=True)
    server.reply = stream(chunk("Yes."))
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.certificate if known else certifi.where()))
    url = f"https://localhost:{server.http.server_port}/v1"
    if known:
        assert pieces_of(url)[0] == ["Yes."]
    else:
        with pytest.raises(RemoteError):
            pieces_of(url)
    assert len(server.headers) == known
