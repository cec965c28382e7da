"""Lines of a server's response: independent of the chunk sizes, and limited in length."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.think.server_sent_events import (
    MOST_ANSWER_BYTES,
    MOST_ERROR_BYTES,
    MOST_LINE,
    ResponseTooLong,
    beginning,
    lines,
)


async def sent(chunks: Iterable[bytes]) -> AsyncIterator[bytes]:
    for chunk in chunks:
        yield chunk


def read(*chunks: bytes) -> list[str]:
    async def all_lines() -> list[str]:
        return [line async for line in lines(sent(chunks))]

    return asyncio.run(all_lines())


def test_line_ends_and_empty_lines_are_removed() -> None:
    assert read(b"data: 1\r\n\r\ndata: 2\n\n") == ["data: 1", "data: 2"]


def test_the_last_line_may_have_no_end() -> None:
    assert read(b"data: 1\nda", b"ta: 2") == ["data: 1", "data: 2"]


def test_a_split_letter_is_joined_and_invalid_utf8_is_replaced() -> None:
    assert read(b"\xe2\x82", b"\xac\n") == ["€"]
    assert read(b"\xff\n") == ["\ufffd"]


@given(
    st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\r\n"), max_size=9)),
    st.lists(st.integers(1, 7)),
)
def test_the_chunk_sizes_make_no_difference(texts: list[str], sizes: list[int]) -> None:
    whole = "".join(f"{text}\n" for text in texts).encode()
    chunks, at = [], 0
    for size in sizes:
        chunks.append(whole[at : at + size])
        at += size
    assert read(*chunks, whole[at:]) == [text for text in texts if text]


@pytest.mark.parametrize("end", [b"", b"\n"])
def test_a_line_of_the_maximum_length_is_read_and_a_longer_one_refused(end: bytes) -> None:
    assert read(b"x" * MOST_LINE + end) == ["x" * MOST_LINE]
    with pytest.raises(ResponseTooLong, match="a line without end"):
        read(b"x" * (MOST_LINE + 1) + end)


@pytest.mark.long
def test_a_response_of_many_short_lines_is_limited_in_size() -> None:
    piece = b"x\n" * 50_000
    count = MOST_ANSWER_BYTES // len(piece)
    assert len(read(*[piece] * count)) == count * 50_000
    with pytest.raises(ResponseTooLong, match="an answer without end"):
        read(*[piece] * (count + 1))


def test_only_the_beginning_of_an_error_is_read() -> None:
    taken = 0

    def error() -> Iterable[bytes]:
        nonlocal taken
        while True:
            taken += 1
            yield b"no " * 1000

    found = asyncio.run(beginning(sent(error())))
    assert len(found) == MOST_ERROR_BYTES
    assert taken == MOST_ERROR_BYTES // 3000 + 1
    assert asyncio.run(beginning(sent([b"HTTP", b" 500"]))) == b"HTTP 500"
