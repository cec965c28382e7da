"""Changes values in the text of the owner's settings file and preserves the rest and all comments.

In: the file's text, values by dotted key. Out: the new text. owner_settings.py checks the new text:
it loads it again and compares the result with the settings that were wanted.
"""

from __future__ import annotations

import io
import re
from collections.abc import Mapping
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap
from ruamel.yaml.error import YAMLError
from ruamel.yaml.scalarstring import DoubleQuotedScalarString

from appliance.errors import SettingsError, ShownAs
from appliance.settings.section import Scalar

_WIDTH = 10_000  # columns: so wide that no line of the owner is folded
_KEY = r"[\w.-]+:[ \t]*(?:#.*)?\n(?:[ \t]*(?:#.*)?\n)*"  # key of a mapping, up to its first entry
_MAPPING = re.compile(rf"^{_KEY}( +)[\w\"'#]", re.MULTILINE)
_SEQUENCE = re.compile(rf"^( *){_KEY}( *)- ", re.MULTILINE)
# Text that no YAML parser reads as a number or a date. Words that are booleans or null: _WORDS.
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_]*(?:[ .-][A-Za-z0-9_]+)*")
_WORDS = {"y", "n", "yes", "no", "on", "off", "true", "false", "null"}  # YAML 1.1, in any case


def with_values(text: str, values: Mapping[str, Scalar], where: str) -> str:
    """`text` of the file `where` with `values`, by dotted keys such as `link.broker`.

    Raises SettingsError for a file that cannot be written back without a loss, for example one
    with a duplicate key.
    """
    writer = _writer(text)
    try:
        loaded = writer.load(text)
    except (YAMLError, ValueError, RecursionError) as error:
        problem = f"{where}: cannot be changed from here without losing part of it."
        shown = ShownAs.of("page-wrong-by-hand", file=where)
        raise SettingsError(problem, "Change it in an editor.", shown=shown) from error
    before = text if loaded is not None else ""
    tree = loaded if loaded is not None else CommentedMap()
    for key, value in values.items():
        _set_value(tree, key.split("."), _scalar(value))
    out = io.StringIO()
    writer.dump(tree, out)
    if before or not text.strip():
        return out.getvalue()
    return f"{text.rstrip()}\n\n{out.getvalue()}"  # a file of comments only, as it is at first


def _writer(text: str) -> YAML:
    """A writer with the file's indentation, as far as one rule for the complete file allows."""
    writer = YAML()
    writer.preserve_quotes = True
    writer.width = _WIDTH
    writer.explicit_start = bool(re.search(r"^---", text, re.MULTILINE))
    mapping, sequence = _MAPPING.search(text), _SEQUENCE.search(text)
    offset = len(sequence[2]) - len(sequence[1]) if sequence else 0
    writer.indent(
        mapping=len(mapping[1]) if mapping else 2, sequence=offset + 2, offset=max(0, offset)
    )
    return writer


def _set_value(tree: Any, path: list[str], value: object) -> None:
    # Index of the first place for a new key: behind the first key if a comment precedes that key.
    first = int(bool(tree.ca.comment and tree.ca.comment[1:] and tree.ca.comment[1]))
    for name in path[:-1]:
        if name not in tree:
            _insert_key(tree, name, CommentedMap(), first)
        first = int(_has_comment_below(tree, name))
        tree = tree[name]
    if path[-1] in tree:
        tree[path[-1]] = value
    else:
        _insert_key(tree, path[-1], value, first)


def _insert_key(tree: CommentedMap, name: str, value: object, first: int) -> None:
    """Insert a new key where it does not separate a comment from the key that the comment is about.

    ruamel.yaml attaches a comment between two keys to the first of them, and a comment before the
    first key of a section to the section's own key.
    """
    names = list(tree)
    free = (
        n for n in range(first, len(names)) if n == 0 or not _has_lines_below(tree, names[n - 1])
    )
    tree.insert(next(free, len(names)), name, value)


def _has_lines_below(tree: CommentedMap, name: str) -> bool:
    """Whether nested values or a comment follow between the line of `name` and the next key."""
    return isinstance(tree[name], dict | list) or _has_comment_below(tree, name)


def _has_comment_below(tree: CommentedMap, name: str) -> bool:
    """Whether a comment is below the line of `name`, not at its end."""
    _, _, behind, below = (tree.ca.items.get(name) or [None] * 4)[:4]
    return bool(below or (behind and "\n" in behind.value.rstrip()))


def _scalar(value: Scalar) -> object:
    if not isinstance(value, str):
        return value
    if _PLAIN.fullmatch(value) and value.lower() not in _WORDS:
        return value
    return DoubleQuotedScalarString(value)
