"""Converts a model server's errors to RemoteErrors that name the server and the setting to check.

Pure. In: an HTTP status and the start of its body, or an error within the stream. Out: a sentence
that names the server, one that names the setting, and the key of a sentence to be spoken.
"""

from __future__ import annotations

import json
import re

from appliance.errors import RemoteError
from appliance.tools.tool_call_syntax import plain

MOST_SAID = 200  # characters of a server's own message
UNREADABLE = (
    ValueError, KeyError, TypeError, AttributeError, IndexError, OverflowError, RecursionError,
)  # fmt: skip

# HTTP status → (what to do, key of the spoken sentence in the catalogue)
_STATUSES = {
    401: ("Check the key in `thinking.remote.key_file`.", "server-key"),
    403: ("Check the key in `thinking.remote.key_file`.", "server-key"),
    404: (
        "Check `thinking.remote.url` (it usually ends in /v1) and `thinking.remote.model`.",
        "server-address",
    ),
    429: (
        "It has too much to do: wait a little, or name another in `thinking.remote.url`.",
        "server-busy",
    ),
}
# Server messages about what an owner can change: (pattern, what to do, key of the spoken sentence).
_KNOWN = tuple(
    (re.compile(words, re.IGNORECASE), remedy, aloud)
    for words, remedy, aloud in (
        (
            r"audio|mmproj|multimodal|message format|content type|content part",
            "The model in `thinking.remote.model` must take sound; llama-server needs its "
            "`--mmproj` file.",
            "server-without-audio",
        ),
        (
            r"context (size|length|window)|too many tokens|maximum context",
            "Lower `thinking.history_tokens`, or give the server's model a larger context.",
            "server-context",
        ),
        (
            r"support.{0,20}tools|tool (use|calling|choice)",
            "Name a model in `thinking.remote.model` that can call tools.",
            "server-no-tools",
        ),
        (
            r"model.{0,80}(not found|does not exist|not exist|unknown)|unknown model",
            "Check `thinking.remote.model`: the name that the server knows the model by.",
            "server-no-model",
        ),
    )
)
SWITCH_OFF = (
    "Switch thinking off there (llama-server: `--reasoning off`), or name another model in "
    "`thinking.remote.model`."
)
_CHECK_LOG = "Look into the server's own log, and check `thinking.remote`."


def refused(server: str, status: int, body: bytes) -> RemoteError:
    """Return the error for an HTTP status other than success."""
    words = error_text(body)
    problem = f"The model server {server} refused with HTTP {status}"
    remedy, aloud = _STATUSES.get(status) or _advice(words)
    return RemoteError(f"{problem}: {words}." if words else f"{problem}.", remedy, aloud)


def reported(server: str, error: object) -> RemoteError:
    """Return the error for an error object within the stream."""
    words = _sentence(error)
    return RemoteError(f"The model server {server} reports: {words}.", *_advice(words))


def unreachable(server: str, what: str) -> RemoteError:
    """Return the error for a server that does not answer or does not finish its answer."""
    remedy = "Check `thinking.remote.url` and that the server runs."
    return RemoteError(f"The model server {server} {what}.", remedy, "server-away")


def no_answer(server: str) -> RemoteError:
    return RemoteError(
        f"The model server {server} sent something that is no answer.",
        "Check that `thinking.remote.url` is an OpenAI-compatible address.",
        "server-refused",
    )


def thinks(server: str) -> RemoteError:
    """Return the error for an answer that holds nothing but thoughts."""
    problem = f"The model server {server} thinks instead of answering, though it was told not to."
    return RemoteError(problem, SWITCH_OFF, "server-thinks")


def thinks_before_answer(server: str) -> RemoteError:
    """Return the error for an answer that follows thoughts; it is only logged."""
    problem = f"The model server {server} thinks before it answers, though it was told not to."
    return RemoteError(problem, SWITCH_OFF)


def error_text(body: bytes) -> str:
    """Return the server's message in the body of an error; "" for an HTML page or no body."""
    try:
        return _sentence(json.loads(body))
    except UNREADABLE:
        text = body.decode("utf-8", "replace").strip()
        return "" if text.startswith("<") else _short(text)


def _sentence(error: object) -> str:
    """Return the message in an error object of OpenAI's form, FastAPI's or a similar one."""
    if isinstance(error, dict):
        for name in ("error", "message", "detail"):
            if error.get(name):
                return _sentence(error[name])
        return ""
    if isinstance(error, list):  # FastAPI: objects with location and message
        return _short("; ".join(map(_field_error, error)))
    return _short(str(error))


def _field_error(error: object) -> str:
    if not isinstance(error, dict):
        return ""
    place = error.get("loc")
    where = ".".join(map(str, place)) if isinstance(place, list) else ""
    return " ".join(filter(None, (where, str(error.get("msg", "")))))


def _short(text: str) -> str:
    return plain(text)[:MOST_SAID].strip().rstrip(".")


def _advice(words: str) -> tuple[str, str]:
    for pattern, remedy, aloud in _KNOWN:
        if pattern.search(words):
            return remedy, aloud
    return _CHECK_LOG, "server-refused"
