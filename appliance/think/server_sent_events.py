"""Lines of a server's answer, as server-sent events come: no line, and no answer, without end.

In: bytes, in pieces of any size. Out: lines of text. A server may be broken, or somebody else's.
"""

from __future__ import annotations

import codecs
from collections.abc import AsyncGenerator, AsyncIterator

MOST_LINE = 100_000  # characters: an event holds a token or two, and at most a report of usage
MOST_ANSWER_BYTES = 4_000_000  # 4096 tokens, the most of any setting, in events of 1 kB each
MOST_ERROR_BYTES = 16_000  # of what comes with an HTTP status that is no success


class ResponseTooLong(ValueError):
    """More than any answer has."""


async def lines(chunks: AsyncIterator[bytes]) -> AsyncGenerator[str]:
    """Each line that is not empty, without its end. Bytes that are no UTF-8 become U+FFFD.

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
    """The first of it, which is enough for an error."""
    read = b""
    async for chunk in chunks:
        read += chunk
        if len(read) >= MOST_ERROR_BYTES:
            break
    return read[:MOST_ERROR_BYTES]
