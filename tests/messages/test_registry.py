"""Encoding and decoding: bytes that are not a message raise BadMessage."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import msgpack

from appliance.errors import BadMessage
from appliance.messages.registry import Message, ObservedMessage, decode, encode
from appliance.messages.thinking import Think
from tests.messages.largest import KINDS, build


@pytest.mark.parametrize("data", [b"", b"\xc0", encode(Think(1))[:-1], encode(Think(1)) + b"\x00"])
def test_damaged_messages_raise_bad_message(data: bytes) -> None:
    with pytest.raises(BadMessage):
        decode(data)


def test_a_field_of_the_wrong_type_is_refused() -> None:
    with pytest.raises(BadMessage, match="serial"):
        decode(msgpack.encode({"type": "Onset", "serial": "one", "index": 0, "speaking": True}))


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_each_kind_of_message_survives_encoding_and_decoding(kind: type[Any]) -> None:
    message: Message = build(kind, "x", 3)
    assert decode(encode(message)) == message
    copy = ObservedMessage(1, "room", "conductor", message)
    assert decode(encode(copy)) == copy


def test_an_unknown_field_is_refused() -> None:
    with pytest.raises(BadMessage, match="unknown field"):
        decode(msgpack.encode({"type": "Abandon", "turn": 1, "why": "no reason"}))


def test_a_message_without_a_type_is_refused() -> None:
    with pytest.raises(BadMessage, match="type"):
        decode(msgpack.encode({"turn": 1}))


@given(st.binary(max_size=200))
def test_arbitrary_bytes_decode_or_raise_bad_message(data: bytes) -> None:
    try:
        message = decode(data)
    except BadMessage:
        return
    assert decode(encode(message)) == message
