"""A model on a server: OpenAI's chat completions with sound in and a stream of text out.

Each request holds the complete conversation, sound before text; the server caches the prefix that
it has evaluated. docs/model-server.md lists the tested servers. The only file that imports httpx.
"""

from __future__ import annotations

import asyncio
import json
import logging
import stat
import time
from collections.abc import AsyncGenerator, Generator, Iterable, Iterator, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any, cast

import httpx

from appliance.errors import RemoteError, SettingsError
from appliance.settings import ThinkingSettings
from appliance.think import server_errors
from appliance.think.abandoned import AnswerAbandoned
from appliance.think.chat_requests import ChatRequests
from appliance.think.history import History, SpeechClip
from appliance.think.interface import AnswerMetrics
from appliance.think.server_dialect import ServerDialect
from appliance.think.server_errors import UNREADABLE
from appliance.think.server_sent_events import ResponseTooLong, beginning, lines
from appliance.think.special_tokens import THOUGHTS, HiddenText, SpecialTokenFilter
from appliance.think.tool_call_stream import ToolCallStream
from appliance.think.tool_calls import with_calls
from appliance.tools.table import Tool
from appliance.tools.tool_call_syntax import BadToolCall, ToolCall, plain

CONNECT_S = 5.0  # a server on the owner's network that is up answers in milliseconds
LONGEST_S = 600.0  # from a question to the end of its answer; far longer than any useful answer
LETTERS_A_TOKEN = 16  # at most; cuts the answer of a server that ignores `max_tokens`

EXAMPLE = "It looks like http://192.168.1.5:8080/v1."

log = logging.getLogger("thinker")


class RemoteModel:
    """A LanguageModel (interface.py) on an OpenAI-compatible server.

    An event loop, which runs only inside `answer`, reads the stream. `interrupt` cancels its
    current wait: for the connection, the first token or the next one.
    """

    recall_cache = None  # the server keeps its own cache

    def __init__(
        self,
        thinking: ThinkingSettings,
        tools: Sequence[Tool] = (),
        connect_s: float = CONNECT_S,
        longest_s: float = LONGEST_S,
    ) -> None:
        """Raises SettingsError for an address or key file that cannot be used."""
        remote = thinking.remote
        self._connect_s, self._longest_s = connect_s, longest_s
        self.patience_s = remote.timeout_s + connect_s + 5.0
        self.progress = 0
        self._url = _address(remote.url)
        # Published to the broker and saved on disk, so without login, path and query of the URL.
        self.name = f"{remote.model or 'model'} at {self._url.netloc.decode('ascii')}"
        self._server = self._url.host
        self._requests = ChatRequests(thinking, tools)
        self._dialect = ServerDialect()
        self._calls = ToolCallStream()
        self.thinks = False  # the last answer contained thoughts, though thinking is switched off
        self._timeout_s = remote.timeout_s
        self._max_letters = LETTERS_A_TOKEN * thinking.answer_tokens
        self._deadline_s = 0.0
        # No compression: a few compressed bytes may expand to gigabytes.
        headers = {"Accept": "text/event-stream", "Accept-Encoding": "identity"}
        if remote.key_file:
            headers["Authorization"] = f"Bearer {read_key(Path(remote.key_file).expanduser())}"
        self._loop = asyncio.new_event_loop()
        self._client = httpx.AsyncClient(
            headers=headers,
            timeout=httpx.Timeout(remote.timeout_s, connect=connect_s),
            # To read the certificates takes 25 ms. HTTP needs none; redirects are not followed.
            verify=self._url.scheme == "https",
        )
        self._waiting: asyncio.Task[str | None] | None = None
        self._interrupted = False

    def answer(
        self, history: History, effort: AnswerMetrics
    ) -> Generator[str | ToolCall | BadToolCall]:
        self._requests.make_room(history)
        return self._answer(self._requests.request(history), effort)

    def transcribe(self, clips: Sequence[SpeechClip]) -> str:
        effort = AnswerMetrics()
        pieces = self._answer(self._requests.transcription(clips), effort)
        text = "".join(piece for piece in pieces if isinstance(piece, str))
        return "" if effort.limited else plain(text)

    def _answer(
        self, request: dict[str, Any], effort: AnswerMetrics
    ) -> Generator[str | ToolCall | BadToolCall]:
        started_s = time.monotonic()
        self._deadline_s = started_s + self._longest_s
        stream = self._stream(request, effort)
        tags = SpecialTokenFilter()
        self._calls = ToolCallStream()
        thought_before, self.thinks = self.thinks, False
        has_output = False
        try:
            while (piece := self._next(stream)) is not None:
                self.progress += 1
                effort.tokens += 1
                effort.prefill_ms = effort.prefill_ms or 1000 * (time.monotonic() - started_s)
                for part in (*self._visible_parts(tags.split(piece)), *self._calls.pop_complete()):
                    has_output = has_output or not isinstance(part, str) or bool(part.strip())
                    yield part
            for part in (*self._visible_parts(tags.finish()), *self._calls.flush()):
                has_output = has_output or not isinstance(part, str) or bool(part.strip())
                yield part
        finally:
            self._loop.run_until_complete(stream.aclose())
        if self.thinks and not has_output:
            raise server_errors.thinks(self._server)
        if self.thinks and not thought_before:
            log.warning("%s", server_errors.thinks_before_answer(self._server))

    def _visible_parts(
        self, parts: Iterable[str | HiddenText]
    ) -> Iterator[str | ToolCall | BadToolCall]:
        """Yield text and calls; for thoughts, only set `thinks`."""
        for part in parts:
            if isinstance(part, HiddenText) and part.tag in THOUGHTS and len(part.text.split()) > 1:
                self.thinks = True  # a single word is only the channel's name, an empty thought
            yield from with_calls([part])

    def encode_ahead(self, clip: SpeechClip) -> None:
        self._requests.sound(clip)

    def prefill_partial(self, history: History, *, likely_all: bool) -> None:
        """Do nothing: a request is sent only when the question is complete."""

    def draw_ahead(self, history: History) -> Generator[str]:
        """Yield nothing: a request is sent only when the question is complete."""
        yield from ()

    def prefill_idle(self, history: History) -> bool:
        self._requests.make_room(history)
        return True

    def preempt_idle(self) -> None:
        """Do nothing: `prefill_idle` returns at once."""

    def interrupt(self) -> None:
        self._interrupted = True
        self._loop.call_soon_threadsafe(self._cancel)

    def resume(self) -> None:
        self._interrupted = False

    def close(self) -> None:
        self._loop.run_until_complete(self._client.aclose())
        self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        self._loop.close()

    def _next(self, stream: AsyncGenerator[str]) -> str | None:
        """Return the next piece of text; None at the end. Raises AnswerAbandoned or RemoteError."""
        # The timeout runs between pieces of text: comment lines would otherwise reset it for ever.
        patience_s = min(self._timeout_s + self._connect_s, self._deadline_s - time.monotonic())
        self._waiting = self._loop.create_task(_next_or_none(stream, patience_s))
        if self._interrupted:
            self._waiting.cancel()
        try:
            return self._loop.run_until_complete(self._waiting)
        except asyncio.CancelledError:
            raise AnswerAbandoned from None
        except httpx.ConnectTimeout as error:
            raise self._unreachable("does not answer") from error
        except (httpx.TimeoutException, TimeoutError) as error:
            if self.thinks:
                raise server_errors.thinks(self._server) from error
            if time.monotonic() >= self._deadline_s:
                raise self._unreachable("comes to no end") from error
            raise self._unreachable(f"has said nothing for {self._timeout_s:g} s") from error
        except httpx.ConnectError as error:
            raise self._unreachable("cannot be reached") from error
        except httpx.HTTPError as error:
            raise self._unreachable("broke off its answer") from error
        except ResponseTooLong as error:
            raise self._unreachable(f"sends {error}") from error
        finally:
            self._waiting = None

    def _cancel(self) -> None:
        if self._waiting is not None and self._interrupted:
            self._waiting.cancel()

    async def _stream(self, request: dict[str, Any], effort: AnswerMetrics) -> AsyncGenerator[str]:
        url = self._url.copy_with(path=self._url.path.rstrip("/") + "/chat/completions")
        extra: dict[str, Any] | None = self._dialect.fields
        while extra is not None:
            sent, extra = extra, None
            async with self._client.stream("POST", url, json={**request, **sent}) as response:
                if response.status_code != httpx.codes.OK:
                    async with _raw_chunks(response) as chunks:
                        body = await beginning(chunks)
                    extra = self._dialect.fields_for_retry(sent, response.status_code, body)
                    if extra is None:
                        raise server_errors.refused(self._server, response.status_code, body)
                    continue
                if refused := self._dialect.record_accepted(sent):
                    log.info("%s refuses %s: not sent again", self._server, ", ".join(refused))
                async with aclosing(self._texts(response, effort)) as texts:
                    async for text in texts:
                        yield text

    async def _texts(self, response: httpx.Response, effort: AnswerMetrics) -> AsyncGenerator[str]:
        """Yield the pieces of text of one answer; "" when tool calls are complete."""
        if response.headers.get("content-encoding", "identity") != "identity":
            raise server_errors.no_answer(self._server)
        ended, letters = False, 0
        async with _raw_chunks(response) as chunks, aclosing(lines(chunks)) as all_lines:
            async for line in all_lines:
                if not line.startswith("data:"):
                    continue  # comments and other fields of server-sent events
                data = line.removeprefix("data:").strip()
                if data == "[DONE]":
                    return
                text, reason = self._delta(data)
                if reason is not None:
                    ended = True
                    effort.limited = reason == "length"
                if text or self._calls.waiting:
                    yield text
                letters += len(text)
                if letters > self._max_letters:
                    effort.limited = True
                    return
        if not ended:
            raise self._unreachable("broke off its answer")

    def _delta(self, data: str) -> tuple[str, str | None]:
        """Return the text of one event, and the finish reason if the answer ends with it."""
        try:
            event = json.loads(data)
            if "error" in event:
                raise server_errors.reported(self._server, event["error"])
            if not event["choices"]:
                return "", None  # a report of usage
            choice = event["choices"][0]
            delta = choice.get("delta") or {}
            text = delta.get("content") or ""
            self._calls.push(delta.get("tool_calls") or ())
            if str(delta.get("reasoning_content") or delta.get("reasoning") or "").strip():
                self.thinks = True
            reason = choice.get("finish_reason")
        except UNREADABLE as error:
            raise server_errors.no_answer(self._server) from error
        # JSON may contain half a surrogate pair, which cannot be encoded as UTF-8.
        valid = str(text).encode("utf-8", "replace").decode()
        return valid, None if reason is None else str(reason)

    def _unreachable(self, what: str) -> RemoteError:
        return server_errors.unreachable(self._server, what)


def read_key(path: Path) -> str:
    """Return the key in a file. Raises SettingsError if others than its owner can read the file."""
    setting = "`thinking.remote.key_file`"
    try:
        mode = path.stat().st_mode
        if stat.S_IMODE(mode) & 0o077:
            raise SettingsError(
                f"{setting}: others can read {path} (mode {stat.S_IMODE(mode):o}).",
                f"Run `chmod 600 {path}`.",
            )
        key = path.read_text(encoding="ascii").strip()
    except OSError as error:
        raise SettingsError(f"{setting}: {path} cannot be read ({error.strerror}).") from error
    except UnicodeDecodeError as error:
        raise SettingsError(f"{setting}: {path} does not hold a key.") from error
    if not key or not key.isprintable() or " " in key:
        raise SettingsError(f"{setting}: {path} does not hold a key, and nothing else.")
    return key


def _address(text: str) -> httpx.URL:
    try:
        url = httpx.URL(text)
    except httpx.InvalidURL as error:
        raise SettingsError(f"`thinking.remote.url` is no address. {EXAMPLE}") from error
    if url.scheme not in ("http", "https") or not url.host:
        raise SettingsError("`thinking.remote.url` is no address.", EXAMPLE)
    return url


def _raw_chunks(response: httpx.Response) -> aclosing[AsyncGenerator[bytes]]:
    """Return the response's raw chunks; closes the stream even if it was not read to its end."""
    return aclosing(cast("AsyncGenerator[bytes]", response.aiter_raw()))


async def _next_or_none(stream: AsyncGenerator[str], patience_s: float) -> str | None:
    return await asyncio.wait_for(anext(stream, None), patience_s)
