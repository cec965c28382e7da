"""A file of Fluent's syntax (projectfluent.org) in, patterns out. The only user of its parser.

Of the syntax there is what sentences need: text, `{ $variable }`, `{ message }` and a choice by a
number, a plural or a word. Functions, terms and attributes are refused.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from fluent.syntax import FluentParser, ast

from appliance.errors import CatalogueError


@dataclass(frozen=True)
class Variable:
    """`{ $name }`: what the caller gives."""

    name: str


@dataclass(frozen=True)
class Reference:
    """`{ name }`: another message of the file."""

    name: str


@dataclass(frozen=True)
class Choice:
    """`{ $name -> … }`: the pattern of the first key that fits, else of `default`.

    A key is a number, a plural category (plurals.py) or a word.
    """

    name: str
    variants: dict[str | float, Pattern]
    default: Pattern


Pattern = tuple["str | Variable | Reference | Choice", ...]


@dataclass
class FluentFile:
    """`messages`: each pattern by its name, in the file's order."""

    messages: dict[str, Pattern] = field(default_factory=dict)


def parse(text: str, name: str) -> FluentFile:
    """`name`: of the file, for errors. Raises CatalogueError, with the line."""
    found = FluentFile()
    for entry in FluentParser().parse(text).body:
        if isinstance(entry, ast.BaseComment):
            continue
        line = text.count("\n", 0, entry.span.start if entry.span else 0) + 1
        where = f"{name}, line {line}"
        if not isinstance(entry, ast.Message) or entry.value is None or entry.attributes:
            raise CatalogueError(f"{where} is no message.", "It looks like: name = Its text.")
        if entry.id.name in found.messages:
            raise CatalogueError(f"{where}: there is a `{entry.id.name}` already.")
        found.messages[entry.id.name] = _pattern(entry.value, where)
    return found


def variables(pattern: Pattern) -> frozenset[str]:
    """The names of all that a caller has to give."""
    names: set[str] = set()
    for part in pattern:
        match part:
            case Variable(name):
                names.add(name)
            case Choice(name, variants, default):
                names.add(name)
                names = names.union(*map(variables, (*variants.values(), default)))
    return frozenset(names)


def _pattern(pattern: ast.Pattern, where: str) -> Pattern:
    parts: list[Any] = []
    for element in pattern.elements:
        if isinstance(element, ast.TextElement):
            parts.append(element.value.replace("\n", " "))  # a long line was broken there
        elif isinstance(element, ast.Placeable):
            parts.append(_expression(element.expression, where))
    return tuple(parts)


def _expression(expression: object, where: str) -> str | Variable | Reference | Choice:
    match expression:
        case ast.StringLiteral():
            return expression.parse()["value"]
        case ast.VariableReference():
            return Variable(expression.id.name)
        case ast.MessageReference(attribute=None):
            return Reference(expression.id.name)
        case ast.SelectExpression(selector=ast.VariableReference() as selector):
            variants = {_key(each.key): _pattern(each.value, where) for each in expression.variants}
            default = next(each for each in expression.variants if each.default)
            return Choice(selector.id.name, variants, _pattern(default.value, where))
    raise CatalogueError(f"{where}: {type(expression).__name__} is not known here.")


def _key(key: ast.Identifier | ast.NumberLiteral) -> str | float:
    return key.name if isinstance(key, ast.Identifier) else float(key.value)
