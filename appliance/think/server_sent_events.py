"""Splits a stream of server-sent events into lines, with limits on a line and on the answer.

In: bytes, in chunks of any size. Out: lines of text. The limits guard against a broken or malicious
server.
"""

from __future__ import annotations

import codecs
from collections.abc import AsyncGenerator, AsyncIterator

MOST_LINE = 100_000  # characters; an event holds a token or two and at most a usage report
MOST_ANSWER_BYTES = 4_000_000  # 4096 tokens, the maximum setting, in events of 1 kB each
MOST_ERROR_BYTES = 16_000  # of the body of an HTTP error


class ResponseTooLong(ValueError):
    """Raised when a line or an answer exceeds its limit."""


async def lines(chunks: AsyncIterator[bytes]) -> AsyncGenerator[str]:
    """Yield each non-empty line without its line end. Invalid UTF-8 becomes U+FFFD.

    Raises ResponseTooLong.
    """
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    rest, read = "", 0
    async for chunk in chunks:
        read += len(chunk)
        if read > MOST_ANSWER_BYTES:
            raise ResponseTooLong("an answer without end")
        *whole, rest = (rest + decoder.decode(chunk)).split("\n")
        for line in whole:
            if len(line) > MOST_LINE:
                raise ResponseTooLong("a line without end")
            if text := line.rstrip("\r"):
                yield text
        if len(rest) > MOST_LINE:
            raise ResponseTooLong("a line without end")
    if rest:
        yield rest


async def beginning(chunks: AsyncIterator[bytes]) -> bytes:
    """Return the first MOST_ERROR_BYTES of a body, enough for an error message."""
    read = b""
    async for chunk in chunks:
        read += chunk
        if len(read) >= MOST_ERROR_BYTES:
            break
    return read[:MOST_ERROR_BYTES]
