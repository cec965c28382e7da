"""Every kind of message fits into a datagram, whatever its fields hold."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from msgspec import inspect

from appliance.messages.limits import MAX_BYTES, MAX_WORDS, cut
from appliance.messages.registry import ObservedMessage
from appliance.messages.speech import Speak
from appliance.messages.thinking import (
    Recall,
    Sentence,
    Think,
)
from appliance.runtime.ipc.channel import SURELY_SHORT_BYTES
from tests.messages.largest import KINDS, _fields, build


# ── limits of the types ──────────────────────────────────────────────────────────────────────────
def most_bytes(kind: inspect.Type) -> int:  # noqa: PLR0911 - a row a kind
    """The maximum msgpack size of a type in bytes. Raises ValueError if it has no limit."""
    match kind:
        case inspect.IntType() | inspect.FloatType():
            return 9
        case inspect.BoolType() | inspect.NoneType():
            return 1
        case inspect.LiteralType():
            return max(len(encode_any(value)) for value in kind.values)
        case inspect.StrType(max_length=int(most)):
            return 5 + 4 * most
        case inspect.VarTupleType(max_length=int(most)):
            return 5 + most * most_bytes(kind.item_type)
        case inspect.TupleType():
            return 5 + sum(map(most_bytes, kind.item_types))
        case inspect.DictType(max_length=int(most)):
            return 5 + most * (most_bytes(kind.key_type) + most_bytes(kind.value_type))
        case inspect.UnionType():
            return max(map(most_bytes, kind.types))
        case inspect.StructType():
            fields = sum(len(f.encode_name) + 5 + most_bytes(f.type) for f in kind.fields)
            return 5 + len("type") + 5 + len(kind.cls.__name__) + 5 + fields
    raise ValueError(f"{kind} has no limit")


def encode_any(value: object) -> bytes:
    return msgspec.msgpack.encode(value)


@pytest.mark.parametrize("kind", [k for k in KINDS if k is not Recall], ids=lambda k: k.__name__)
@pytest.mark.long
def test_no_message_can_be_larger_than_a_datagram(kind: type[msgspec.Struct]) -> None:
    copy = sum(len(f.encode_name) + 5 + most_bytes(f.type) for f in _fields(ObservedMessage)[:3])
    assert most_bytes(inspect.type_info(kind)) + copy + 100 <= MAX_BYTES  # 100: names, heads


def test_a_field_without_a_limit_raises_value_error() -> None:
    class Endless(msgspec.Struct):
        text: str

    with pytest.raises(ValueError, match="no limit"):
        most_bytes(inspect.type_info(Endless))


def test_no_text_field_has_a_limit_below_the_unchecked_size() -> None:
    texts = [f.type for k in KINDS for f in _fields(k) if isinstance(f.type, inspect.StrType)]
    assert min(text.max_length or 0 for text in texts) >= SURELY_SHORT_BYTES


# ── cut ──────────────────────────────────────────────────────────────────────────────────────────
def test_a_message_within_its_limits_is_returned_as_is() -> None:
    message = Think(1, (2, 3), "why?")
    assert cut(message) is message


def test_a_cut_text_keeps_its_beginning_and_a_cut_list_keeps_its_end() -> None:
    short = cut(Think(1, tuple(range(2000)), "a" + "z" * MAX_WORDS))
    assert short.text == "a" + "z" * (MAX_WORDS - 1)
    assert short.utterances == tuple(range(1000, 2000))


def test_half_a_surrogate_pair_becomes_a_question_mark() -> None:
    assert cut(Sentence(1, 0, "half: \ud800")).text == "half: ?"


def test_a_nested_message_is_cut_too() -> None:
    copy = cut(ObservedMessage(1, "a" * 200, "b", Speak(1, 0, "c" * 5000)))
    assert len(copy.source) == 100
    assert isinstance(copy.message, Speak)
    assert len(copy.message.text) == MAX_WORDS


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_the_largest_message_of_each_kind_is_not_cut(kind: type[Any]) -> None:
    message = build(kind)
    assert cut(message) == message
