"""Requests and replies as plain data, independent of the HTTP server."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qs, unquote

FORM = "application/x-www-form-urlencoded"
MOST_FIELDS = 60  # of a form; the settings have some 30
MOST_COOKIE = 1024  # characters of a cookie; ours have 43
HTML, TEXT = "text/html; charset=utf-8", "text/plain; charset=utf-8"


@dataclass(frozen=True)
class Request:
    """`path` without the query; `headers` by lower-case names; `client`: the browser's network
    (connection_places.py). `words`: fields of the query, each of which may occur only once."""

    method: str
    path: str
    headers: Mapping[str, str] = field(default_factory=dict)
    words: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    client: str = ""

    def cookie(self, name: str) -> str:
        """Value of a cookie, or ""; also "" for a longer one than MOST_COOKIE.

        http.cookies takes quadratic time for backslashes (CVE-2024-7592) in CPython before 3.11.10
        and 3.12.6, which we support. Our cookies are never quoted.
        """
        for cookie in self.headers.get("cookie", "").split(";"):
            key, _, value = cookie.partition("=")
            if key.strip() == name:
                return value.strip() if len(value) <= MOST_COOKIE else ""
        return ""

    def form(self) -> dict[str, str] | None:
        """Fields of the form in the body; None if the body is not a valid form."""
        if self.headers.get("content-type", "").partition(";")[0].strip().lower() != FORM:
            return None
        try:
            return parse_words(self.body.decode("ascii"))
        except ValueError:
            return None


@dataclass(frozen=True)
class Reply:
    """`headers`: in addition to those of every reply."""

    status: int
    body: bytes = b""
    kind: str = HTML
    headers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class EventStream:
    """Returned in place of a reply: a stream of events until the browser disconnects or its access
    is revoked.

    `access`: id of the browser. `words`: include the sentences of answers.
    """

    access: str
    words: bool = False


def parse_words(text: str) -> dict[str, str]:
    """Fields of a query or a form. Raises ValueError for a repeated field, more than MOST_FIELDS
    fields, or text that is not UTF-8."""
    if not text:
        return {}
    found = parse_qs(text, keep_blank_values=True, strict_parsing=True, encoding="utf-8",
                     errors="strict", max_num_fields=MOST_FIELDS)  # fmt: skip
    if any(len(values) > 1 for values in found.values()):
        raise ValueError("a field comes twice")
    return {name: values[0] for name, values in found.items()}


def read_request(
    method: bytes,
    target: bytes,
    headers: Iterable[tuple[bytes, bytes]],
    body: bytes,
    client: str,
) -> Request | None:
    """Build a request. None for input that browsers do not send: a repeated Host, Origin, Cookie or
    Content-Type header, or a target that is not a path."""
    by_name: dict[str, str] = {}
    for name, value in headers:
        key = name.decode("ascii").lower()
        if key in by_name and key in ("host", "origin", "cookie", "content-type"):
            return None
        by_name[key] = value.decode("latin-1")
    path, _, query = target.decode("ascii", "replace").partition("?")
    if not path.startswith("/"):
        return None
    try:
        words = parse_words(query)
        path = unquote(path, errors="strict")
    except ValueError:
        return None
    return Request(method.decode("ascii"), path, by_name, words, body, client)


def see_other(place: str, *headers: tuple[str, str]) -> Reply:
    """Redirect to `place` after a form."""
    return Reply(303, headers=(("Location", place), *headers))


def plain(status: int, sentence: str) -> Reply:
    return Reply(status, sentence.encode() + b"\n", TEXT)
