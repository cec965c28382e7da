"""How long the texts and lists of a message may be. One table; every field names a row of it.

With these, each kind of message fits into one datagram whatever it says
(tests/messages/test_limits.py computes it from the types). Whoever receives refuses more;
whoever sends cuts to it first.
"""

from __future__ import annotations

from typing import Annotated, Any, TypeVar, cast

import msgspec
from msgspec import Meta, inspect

MAX_BYTES = 60_000  # one datagram; well under the default socket buffer of 208 KiB
MAX_COUNT = 2**62  # msgspec compares signed 64-bit numbers
MAX_LINE = 500  # characters of one sentence
MAX_WORDS = 1000  # characters to be said or asked at once: a minute of speech
MOST_ARGUMENTS = 8  # of a tool call
MAX_ANSWER = 10_000  # characters of a whole answer: ten minutes of speech

NameText = Annotated[str, Meta(max_length=100)]  # of a part, a voice, a tool
LineText = Annotated[
    str, Meta(max_length=MAX_LINE)
]  # a sentence of what is wrong, or an answer's line
WordsText = Annotated[str, Meta(max_length=MAX_WORDS)]
AnswerText = Annotated[str, Meta(max_length=MAX_ANSWER)]
# A number of something, or a length. The floor keeps serials and turns as unsigned 64-bit words,
# and adds to them.
Count = Annotated[int, Meta(ge=0, lt=MAX_COUNT)]
Utterances = Annotated[tuple[Count, ...], Meta(max_length=1000)]  # a day has 2880
Names = Annotated[tuple[NameText, ...], Meta(max_length=32)]  # parts and cards; a box has a dozen
ShareValue = Annotated[float, Meta(ge=0.0, le=1.0)]  # neither infinite nor no number

M = TypeVar("M", bound=msgspec.Struct)


def cut(message: M) -> M:
    """The message with every text and list as long as it may be: of a text its beginning, of a
    list its end. Halves of surrogate pairs, which no encoder takes, become question marks."""
    return cast("M", _cut(message, inspect.type_info(type(message))))


def _cut(value: Any, kind: inspect.Type) -> Any:
    match kind:
        case inspect.StrType() if isinstance(value, str):
            return value.encode("utf-8", "replace").decode()[: kind.max_length]
        case inspect.VarTupleType() if isinstance(value, tuple):
            most = len(value) if kind.max_length is None else kind.max_length
            return tuple(_cut(item, kind.item_type) for item in value[-most:])
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
    was = {field.name: getattr(message, field.name) for field in info.fields}
    fields = {field.name: _cut(was[field.name], field.type) for field in info.fields}
    return msgspec.structs.replace(message, **fields) if fields != was else message
