"""Filters of the role `settings`: what the inventory says, laid over the settings that a box has.

In: the text of the box's settings file and the inventory's values. Out: the text that belongs
there, and the difference, a line for each key, in which no secret can be read.

A mapping is merged key by key. null removes a key, so that the default counts again. Any other
value, a list too, takes the place of what was there. What the inventory does not name stays.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any

import yaml

MASK = "(not shown)"
ABSENT = "(not set)"
# The first line of a file that an earlier version of the role wrote; it is no longer correct.
_STALE = re.compile(r"# Written by Ansible; change it there\..*\n")
_HEAD = re.compile(r"(?:[ \t]*(?:#.*)?\n)*")
_SECRET = re.compile(r"password|passwd|secret|token|(?<![a-z])key$", re.IGNORECASE)
_NO_SECRET = re.compile(r"_tokens$|^tokens$", re.IGNORECASE)  # numbers of a model's tokens
_LOGIN = re.compile(r"(?<=://)[^/@\s]+(?=@)")  # user:password of an address


def merged_settings(now: str, *wanted: Mapping[str, Any]) -> str:
    """The file's text with `wanted` merged into it, the later over the earlier.

    The very same text where that changes nothing. Else the comments at its beginning stay, and
    those between its lines do not. Raises ValueError for a text that is no settings file.
    """
    before = _read(now)
    after = _merged(before, _together(wanted))
    if after == before:
        return now
    head = _STALE.sub("", _HEAD.match(now)[0])  # type: ignore[index]  # it also matches the empty string
    body = _written(after) if after else ""
    return f"{head.rstrip()}\n{body}" if head.strip() else body or "{}\n"


def without_model(wanted: Mapping[str, Any]) -> dict[str, Any]:
    """What the inventory says, but for which model thinks: before a box has its release, and the
    models that come with the site, it would not start with it."""
    thinking = wanted.get("thinking")
    if not isinstance(thinking, Mapping):
        return dict(wanted)
    return {**wanted, "thinking": {key: thinking[key] for key in thinking if key != "model"}}


def settings_difference(now: str, then: str) -> list[str]:
    """What differs, as `thinking.model: pocket -> gemma-4-e2b`; [] where nothing does."""
    before, after = dict(_leaves(_read(now))), dict(_leaves(_read(then)))
    lines = [
        f"{key}: {_shown(key, before)} -> {_shown(key, after)}"
        for key in dict.fromkeys([*before, *after])
        if before.get(key, ABSENT) != after.get(key, ABSENT)
    ]
    if now != then and "#" in _HEAD.sub("", now, count=1):
        lines.append("(comments between the lines of the file are not kept)")
    return lines


def secrets_difference(wanted: Mapping[str, Any], found: Mapping[str, str]) -> list[str]:
    """The same of secrets, by name. `found`: the SHA-256 of each file on the box, or "".

    An empty secret is one that the inventory does not know: it stays as it is.
    """
    lines = []
    for name, value in wanted.items():
        there = found.get(name)
        if value is None and there:
            lines.append(f"secret {name}: {MASK} -> {ABSENT}")
        elif value and there != secret_sha256(value):
            lines.append(f"secret {name}: {MASK if there else ABSENT} -> {MASK}")
    return lines


def secret_sha256(value: object) -> str:
    """Of the file that holds a secret: its words and a line's end."""
    return sha256(f"{value}\n".encode()).hexdigest()


def _read(text: str) -> dict[str, Any]:
    try:
        found = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise ValueError(f"The settings on the box are no YAML: {error}") from error
    if found is None:
        return {}
    if not isinstance(found, dict):
        problem = "The settings on the box are no mapping of keys to values."
        raise ValueError(problem)  # noqa: TRY004  # the type is right, the text is not
    return found


def _written(settings: Mapping[str, Any]) -> str:
    """As YAML. A few characters (U+0085) PyYAML can read again only as escapes."""
    text = yaml.safe_dump(settings, allow_unicode=True, sort_keys=False)
    if yaml.safe_load(text) == settings:
        return text
    return yaml.safe_dump(settings, sort_keys=False)


def _together(parts: tuple[Mapping[str, Any], ...]) -> dict[str, Any]:
    """Several mappings as one; null stays null, for it is to remove something."""
    whole: dict[str, Any] = {}
    for part in parts:
        for key, value in part.items():
            held = whole.get(str(key))
            if isinstance(value, Mapping):
                value = _together((held if isinstance(held, Mapping) else {}, value))
            whole[str(key)] = _plain(value)
    return whole


def _merged(before: Mapping[str, Any], wanted: Mapping[str, Any]) -> dict[str, Any]:
    after = dict(before)
    for key, value in wanted.items():
        held = after.get(key)
        if value is None:
            after.pop(key, None)
        elif isinstance(value, Mapping):
            value = _merged(held if isinstance(held, Mapping) else {}, value)
            if value or held == {}:
                after[key] = value
            else:  # all of its keys were removed
                after.pop(key, None)
        else:
            after[key] = value
    return after


def _plain(value: Any) -> Any:
    """As YAML knows it: Ansible's strings carry where they came from."""
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    for kind in (bool, int, float, str):
        if isinstance(value, kind):
            return value if kind is bool else kind(value)
    if value is None:
        return None
    raise ValueError(f"{value!r} in the inventory is no value that a setting can have.")


def _leaves(tree: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    """Each value with its path, as `link.broker`."""
    if isinstance(tree, Mapping) and tree:
        for key, value in tree.items():
            yield from _leaves(value, (*path, str(key)))
    elif path:
        yield ".".join(path), tree


def _shown(key: str, values: Mapping[str, Any]) -> str:
    if key not in values:
        return ABSENT
    last = key.rpartition(".")[2]
    if _SECRET.search(last) and not _NO_SECRET.search(last):
        return MASK
    text = yaml.safe_dump(values[key], allow_unicode=True, width=1_000_000, default_flow_style=True)
    return _LOGIN.sub(MASK, text.removesuffix("...\n").strip())


class FilterModule:
    """Where Ansible looks for filters."""

    def filters(self) -> dict[str, Any]:
        return {
            each.__name__: each
            for each in (
                merged_settings,
                without_model,
                settings_difference,
                secrets_difference,
                secret_sha256,
            )
        }
