"""Parses text in Fluent's syntax (projectfluent.org) into patterns. The only user of its parser.

It supports the part of the syntax that sentences need: text, `{ $variable }`, `{ message }` and a
choice by a number, a plural or a word. It refuses functions, terms and attributes.
"""

from __future__ import annotations

from typing import Any

from fluent.syntax import FluentParser, ast

from appliance.errors import CatalogueError
from appliance.language.patterns import Choice, Pattern, Reference, Variable


def parse(text: str, name: str, first_line: int = 1) -> dict[str, Pattern]:
    """Each message's pattern by its key, in the file's order. `name`: the file's name, for errors;
    `first_line`: the file's line at which `text` begins.

    Raises CatalogueError, with the line.
    """
    messages: dict[str, Pattern] = {}
    for entry in FluentParser().parse(text).body:
        if isinstance(entry, ast.BaseComment):
            continue
        line = text.count("\n", 0, entry.span.start if entry.span else 0) + first_line
        where = f"{name}, line {line}"
        if not isinstance(entry, ast.Message) or entry.value is None or entry.attributes:
            raise CatalogueError(f"{where} is no message.", "It looks like: name = Its text.")
        if entry.id.name in messages:
            raise CatalogueError(f"{where}: there is a `{entry.id.name}` already.")
        messages[entry.id.name] = _pattern(entry.value, where)
    return messages


def _pattern(pattern: ast.Pattern, where: str) -> Pattern:
    parts: list[Any] = []
    for element in pattern.elements:
        if isinstance(element, ast.TextElement):
            parts.append(element.value.replace("\n", " "))  # a line break inside a sentence
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
            variants = {
                _key(variant.key): _pattern(variant.value, where) for variant in expression.variants
            }
            default = next(variant for variant in expression.variants if variant.default)
            return Choice(selector.id.name, variants, _pattern(default.value, where))
    raise CatalogueError(f"{where}: {type(expression).__name__} is not known here.")


def _key(key: ast.Identifier | ast.NumberLiteral) -> str | float:
    return key.name if isinstance(key, ast.Identifier) else float(key.value)
