"""The elements of a parsed message: plain values, independent of the parser."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Variable:
    """`{ $name }`: a value that the caller passes."""

    name: str


@dataclass(frozen=True)
class Reference:
    """`{ name }`: another message of the file."""

    name: str


@dataclass(frozen=True)
class Choice:
    """`{ $name -> … }`: the pattern of the first key that matches, else `default`.

    A key is a number, a plural category (plurals.py) or a word.
    """

    name: str
    variants: dict[str | float, Pattern]
    default: Pattern


Pattern = tuple["str | Variable | Reference | Choice", ...]


def variables(pattern: Pattern) -> frozenset[str]:
    """The names of all values that a caller has to pass."""
    names: set[str] = set()
    for part in pattern:
        match part:
            case Variable(name):
                names.add(name)
            case Choice(name, variants, default):
                names.add(name)
                names = names.union(*map(variables, (*variants.values(), default)))
    return frozenset(names)
