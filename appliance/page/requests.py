"""What a browser asks, and what it is answered: plain data, whoever speaks HTTP."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs, unquote

FORM = "application/x-www-form-urlencoded"
MOST_FIELDS = 60  # of a form; the settings have some 30
HTML, TEXT = "text/html; charset=utf-8", "text/plain; charset=utf-8"


@dataclass(frozen=True)
class Request:
    """`path` without the query; `headers` by lower-case names; `client`: the browser's address.
    `words`: of the query, each once."""

    method: str
    path: str
    headers: Mapping[str, str] = field(default_factory=dict)
    words: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    client: str = ""

    def cookie(self, name: str) -> str:
        """The value of that cookie, or ""."""
        jar = SimpleCookie()
        try:
            jar.load(self.headers.get("cookie", ""))
        except CookieError:
            return ""
        return jar[name].value if name in jar else ""

    def form(self) -> dict[str, str] | None:
        """The fields of a form, each once; None for a body that is none."""
        if self.headers.get("content-type", "").partition(";")[0].strip().lower() != FORM:
            return None
        try:
            return parse_words(self.body.decode("ascii"))
        except ValueError:
            return None


@dataclass(frozen=True)
class Reply:
    """`headers`: beside those that every reply has."""

    status: int
    body: bytes = b""
    kind: str = HTML
    headers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class EventStream:
    """In place of a reply: events from now on, until the browser leaves or loses its access.

    `access`: of whom. `words`: the sentences of answers are wanted, too.
    """

    access: str
    words: bool = False


def parse_words(text: str) -> dict[str, str]:
    """The fields of a query or a form. Raises ValueError: for one that comes twice, for more than
    MOST_FIELDS, for what is no UTF-8."""
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
    """None for what no browser sends: a header twice that counts, a target that is no path."""
    said: dict[str, str] = {}
    for name, value in headers:
        key = name.decode("ascii").lower()
        if key in said and key in ("host", "origin", "cookie", "content-type"):
            return None
        said[key] = value.decode("latin-1")
    path, _, query = target.decode("ascii", "replace").partition("?")
    if not path.startswith("/"):
        return None
    try:
        words = parse_words(query)
        path = unquote(path, errors="strict")
    except ValueError:
        return None
    return Request(method.decode("ascii"), path, said, words, body, client)


def see_other(place: str, *headers: tuple[str, str]) -> Reply:
    """After a form: go there."""
    return Reply(303, headers=(("Location", place), *headers))


def plain(status: int, sentence: str) -> Reply:
    return Reply(status, sentence.encode() + b"\n", TEXT)
