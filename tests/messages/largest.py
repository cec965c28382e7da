"""Builds the largest possible message of each kind."""

from __future__ import annotations

from typing import Any, get_args

import msgspec
from msgspec import inspect

from appliance.messages.limits import MAX_ANSWER, MAX_COUNT, MAX_WORDS
from appliance.messages.registry import Message
from appliance.messages.thinking import (
    Recall,
)

KINDS: tuple[type[msgspec.Struct], ...] = get_args(Message)
WIDE = "\U0001f9e1"  # four bytes of UTF-8


def largest(kind: inspect.Type, letter: str = WIDE, number: int = 2**63 - 1) -> Any:  # noqa: PLR0911
    """The largest value that a type allows."""
    match kind:
        case inspect.IntType():
            most = MAX_COUNT - 1 if kind.le is None else int(kind.le)
            return number if kind.ge is None else min(most, max(int(kind.ge), number))
        case inspect.FloatType():
            return 1.0 if kind.le is not None else 1.7e308
        case inspect.BoolType():
            return True
        case inspect.NoneType():
            return None
        case inspect.LiteralType():
            return max(kind.values, key=lambda value: len(str(value)))
        case inspect.StrType():
            return letter * (kind.max_length or 0)
        case inspect.VarTupleType():
            return (largest(kind.item_type, letter, number),) * (kind.max_length or 1)
        case inspect.TupleType():
            return tuple(largest(item, letter, number) for item in kind.item_types)
        case inspect.DictType():
            value = largest(kind.value_type, letter, number)
            key = largest(kind.key_type, letter, number)
            return {key[:-1] + chr(65 + n): value for n in range(kind.max_length or 0)}
        case inspect.UnionType():
            return largest(kind.types[0], letter, number)
        case inspect.StructType():
            fields = {f.name: largest(f.type, letter, number) for f in kind.fields}
            return kind.cls(**fields)
    raise AssertionError(kind)


def build(kind: type[msgspec.Struct], letter: str = WIDE, number: int = 2**63 - 1) -> Any:
    if kind is Recall:
        return Recall.newest([(letter * MAX_WORDS,) * 2 + (letter * MAX_ANSWER,)] * 200)
    return largest(inspect.type_info(kind), letter, number)


def _fields(kind: type[msgspec.Struct]) -> tuple[inspect.Field, ...]:
    info = inspect.type_info(kind)
    assert isinstance(info, inspect.StructType)
    return info.fields
