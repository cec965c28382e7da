"""Limits on the lengths of texts and lists in messages, as types for the fields.

With these limits every message fits into one datagram, whatever its content
(tests/messages/test_limits.py computes it from the types). A sender truncates with `cut`; a
receiver refuses a message that exceeds a limit.
"""

from __future__ import annotations

from typing import Annotated, Any, TypeVar, cast

import msgspec
from msgspec import Meta, inspect

MAX_BYTES = 60_000  # one datagram; well under the default socket buffer of 208 KiB
MAX_COUNT = 2**62  # msgspec compares signed 64-bit numbers
MAX_LINE = 500  # characters of one sentence
MAX_WORDS = 1000  # characters of one question or announcement: a minute of speech
MOST_ARGUMENTS = 8  # of a tool call
MAX_ANSWER = 10_000  # characters of a complete answer: ten minutes of speech

NameText = Annotated[str, Meta(max_length=100)]  # name of a part, a voice or a tool
LineText = Annotated[
    str, Meta(max_length=MAX_LINE)
]  # the description of a problem, or one line of an answer
WordsText = Annotated[str, Meta(max_length=MAX_WORDS)]
AnswerText = Annotated[str, Meta(max_length=MAX_ANSWER)]
# A count, a serial or a length. The floor keeps serials and turns as unsigned 64-bit words and
# increments them.
Count = Annotated[int, Meta(ge=0, lt=MAX_COUNT)]
Utterances = Annotated[tuple[Count, ...], Meta(max_length=1000)]  # a day of speech has 2880
Names = Annotated[tuple[NameText, ...], Meta(max_length=32)]  # parts and cards; a box has a dozen
ShareValue = Annotated[float, Meta(ge=0.0, le=1.0)]  # neither infinite nor NaN

M = TypeVar("M", bound=msgspec.Struct)


def cut(message: M) -> M:
    """Truncate every text and list of a message to its limit: a text keeps its beginning, a list
    its end. Lone surrogates, which UTF-8 cannot encode, become question marks."""
    return cast("M", _cut(message, inspect.type_info(type(message))))


def _cut(value: Any, kind: inspect.Type) -> Any:
    match kind:
        case inspect.StrType() if isinstance(value, str):
            return value.encode("utf-8", "replace").decode()[: kind.max_length]
        case inspect.VarTupleType() if isinstance(value, tuple):
            limit = len(value) if kind.max_length is None else kind.max_length
            return tuple(_cut(item, kind.item_type) for item in value[-limit:])
        case inspect.TupleType() if isinstance(value, tuple):
            return tuple(_cut(*pair) for pair in zip(value, kind.item_types, strict=False))
        case inspect.DictType() if isinstance(value, dict):
            items = list(value.items())[: kind.max_length]
            return {_cut(k, kind.key_type): _cut(v, kind.value_type) for k, v in items}
        case inspect.UnionType():
            return _cut_member(value, kind)
        case inspect.StructType():
            return _cut_fields(value)
    return value


def _cut_member(value: Any, union: inspect.UnionType) -> Any:
    if isinstance(value, msgspec.Struct):
        return _cut_fields(value)
    texts = [member for member in union.types if isinstance(member, inspect.StrType)]
    return _cut(value, texts[0]) if texts else value


def _cut_fields(message: Any) -> Any:
    info = inspect.type_info(type(message))
    assert isinstance(info, inspect.StructType)
    values = {field.name: getattr(message, field.name) for field in info.fields}
    fields = {field.name: _cut(values[field.name], field.type) for field in info.fields}
    return msgspec.structs.replace(message, **fields) if fields != values else message
