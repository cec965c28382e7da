"""Loads the settings: the vendor's defaults and the owner's file over them, or a SettingsError."""

from __future__ import annotations

import difflib
import errno
import os
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

import msgspec
import yaml

from appliance.atomic_file import read_small
from appliance.errors import SettingsError, ShownAs
from appliance.settings import value_errors
from appliance.settings.language import fill_in
from appliance.settings.machine import ProcessOverride
from appliance.settings.models import MODEL_NAME, OwnModel
from appliance.settings.whole import DEFAULTS, Settings, owner_file

MOST_BYTES = 100_000  # limit of a file; the defaults with all their comments have 14 kB
_DEFAULTS_ONLY = Path(os.devnull)  # as the path of a file: load only the defaults
# Renamed keys: a file with the old name is read as if it had the new one.
_RENAMED = {"hearing.onset.steps": "blocks"}
_FREE = ("processes.", "models.")
MOST_DEPTH = 20  # levels of nested lists and mappings; the defaults have 4

SectionT = TypeVar("SectionT")


def load(path: Path | None = None, overrides: Mapping[str, Any] | None = None) -> Settings:
    """The settings in effect: defaults, then the owner's file, then `overrides` (nested keys).

    Raises SettingsError for a file that is missing, is not YAML, or contains an unknown key or
    a value that is not allowed.
    """
    path = path if path is not None else owner_file()
    where = str(path) if path is not None else "the settings"
    owner_values = _read(path) if path is not None and path != _DEFAULTS_ONLY else {}
    return _settings(owner_values, where, overrides)


def load_text(text: str, where: str, overrides: Mapping[str, Any] | None = None) -> Settings:
    """Like `load`, from the text of an owner's file; `where`: the file's name, for errors."""
    return _settings(_parse(text, where), where, overrides)


def _settings(
    owner_values: Mapping[str, Any], where: str, overrides: Mapping[str, Any] | None
) -> Settings:
    merged = _vendor_tree()
    _merge(merged, owner_values, where)
    if overrides:
        _merge(merged, overrides, "the overrides")
    # Row by row, for the row's name in an error: msgspec would call it `processes[...]`.
    for name, change in merged["processes"].items():
        _convert(change, ProcessOverride, where, f"processes.{name}.")
    for name, row in merged["models"].items():
        if not re.fullmatch(MODEL_NAME, str(name)):
            problem = f"{where}: `{str(name)[:60]}` is no name for a model."
            raise SettingsError(problem, "Use small letters, digits, dots and hyphens, 40 at most.")
        _convert(row, OwnModel, where, f"models.{name}.")
    fill_in(merged)
    return _convert(merged, Settings, where)


def changed(settings: Settings) -> dict[str, Any]:
    """The settings that differ from the defaults, as dotted key → value."""
    default = dict(_flatten(msgspec.to_builtins(load_defaults())))
    return {k: v for k, v in _flatten(msgspec.to_builtins(settings)) if default.get(k) != v}


def load_defaults() -> Settings:
    """The vendor's settings, without an owner's file."""
    tree = _vendor_tree()
    fill_in(tree)
    return msgspec.convert(tree, Settings)


def _vendor_tree() -> dict[str, Any]:
    """The vendor's file as a new tree."""
    tree: dict[str, Any] = msgspec.msgpack.decode(_vendor_packed())  # an eighth of a deepcopy
    return tree


@cache
def _vendor_packed() -> bytes:
    """The vendor's file, read once."""
    return msgspec.msgpack.encode(load_own_yaml(DEFAULTS))


def load_own_yaml(path: Path) -> Any:
    """Parse a file of the package, in C where PyYAML has libyaml. An owner's file is parsed in
    Python: `_PlainLoader` checks each node, and libyaml's loader would bypass that check."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return yaml.load(path.read_text(encoding="utf-8"), loader)  # noqa: S506 - a safe one


def _read(path: Path) -> dict[str, Any]:
    try:
        text = read_small(path, MOST_BYTES, links=True).decode("utf-8")
    except OSError as error:
        if error.errno == errno.EFBIG:
            raise SettingsError(f"{path}: is larger than {MOST_BYTES // 1000} kB.",
                                "Is it the right file?") from error  # fmt: skip
        raise SettingsError(f"{path}: cannot be read ({error.strerror}).") from error
    except UnicodeDecodeError as error:
        raise SettingsError(f"{path}: is not UTF-8 text.") from error
    return _parse(text, str(path))


def _parse(text: str, where: str) -> dict[str, Any]:
    try:
        loaded = yaml.load(text, _PlainLoader)  # noqa: S506 - a SafeLoader that takes less
    except _YAML_ERRORS as error:
        mark = getattr(error, "problem_mark", None)
        line = f" near line {mark.line + 1}" if mark else ""
        remedy = "Check the indentation there."
        raise SettingsError(f"{where}: is not YAML{line}.", remedy) from error
    if loaded is None:
        return {}
    if not isinstance(loaded, dict):
        kind = type(loaded).__name__
        raise SettingsError(f"{where}: must hold `key: value` lines, not a {kind}.")
    return loaded


class _PlainLoader(yaml.SafeLoader):
    """YAML without aliases, which can expand a few lines to gigabytes, and with limited depth."""

    _depth = 0

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        event: Any = self.peek_event()  # type: ignore[no-untyped-call]
        if isinstance(event, yaml.AliasEvent) or self._depth >= MOST_DEPTH:
            raise yaml.MarkedYAMLError(None, None, "not plain", event.start_mark)
        self._depth += 1
        node: yaml.Node | None = super().compose_node(parent, index)
        self._depth -= 1
        return node


# What PyYAML raises for text that is not YAML; the last four for bad values of tags and dates
# (`!!bool x`, a 13th month).
_YAML_ERRORS = (yaml.YAMLError, RecursionError, ValueError, KeyError, IndexError, AttributeError)


def _convert(tree: Any, kind: type[SectionT], source: str, prefix: str = "") -> SectionT:
    try:
        return msgspec.convert(tree, kind)
    except msgspec.ValidationError as error:
        message, key = _split_message(error, prefix)
        sentence = f"`{key}`: {message[:1].lower()}{message[1:]}" if key else message
        problem, choices = f"{source}: {sentence}.", _choices(str(error), kind)
        shown = value_errors.shown_as(message, key, choices, error.__cause__)
        raise SettingsError(problem, _remedy(str(error), choices), shown=shown) from error


def _remedy(problem: str, choices: str) -> str:
    if "`str`, got `bool`" in problem:  # YAML's yes, no, on and off
        return 'Put "yes" and "no" in quotes.'
    return f"There are {choices}." if choices else "See `interlude config`."


def _choices(problem: str, kind: type[object]) -> str:
    """The allowed values of a setting that has a list of them; "" for any other setting."""
    if problem.startswith("Invalid enum value"):
        hint: Any = kind
        for name in problem.partition("`$.")[2].rstrip("`").split("."):
            hint = get_type_hints(hint).get(name) if isinstance(hint, type) else None
        if get_origin(hint) is Literal:
            return ", ".join(map(str, get_args(hint)))
    return ""


def _merge(base: dict[str, Any], over: Mapping[str, Any], source: str, prefix: str = "") -> None:
    for key, value in over.items():
        renamed = _RENAMED.get(f"{prefix}{key}", key)
        if renamed not in over:
            key = renamed
        free = prefix in _FREE  # the owner chooses the row names; `_settings` checks the rows
        if key not in base and not free:
            nested = [
                f"{at}.{key}" for at in base if isinstance(base[at], dict) and key in base[at]
            ]
            near = nested or difflib.get_close_matches(str(key), base, n=1)
            hint = f"Did you mean `{prefix}{near[0]}`?" if near else "See `interlude config`."
            full_key = f"{prefix}{key}"[:100]
            shown = ShownAs.of("page-wrong-unknown-key", setting=full_key)
            if near:
                near_key = f"{prefix}{near[0]}"
                shown = ShownAs.of("page-wrong-unknown-key-near", setting=full_key, near=near_key)
            problem = f"{source}: there is no setting `{prefix}{key}`."
            raise SettingsError(problem, hint, shown=shown)
        if isinstance(base.get(key), dict):
            if not isinstance(value, Mapping):
                raise SettingsError(f"{source}: `{prefix}{key}` must hold `key: value` lines.")
            _merge(base[key], value, source, f"{prefix}{key}.")
        else:
            base[key] = value


def _flatten(tree: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in tree.items():
        if isinstance(value, Mapping) and value:
            yield from _flatten(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _split_message(error: msgspec.ValidationError, prefix: str) -> tuple[str, str]:
    """The problem, and the dotted key that it is about ("" for the whole file). msgspec's text is
    'Expected `int`, got `str` - at `$.card.period_ms`'; our errors have the key first."""
    problem, _, where = str(error).partition(" - at ")
    return problem, f"{prefix}{where.strip('`').removeprefix('$').removeprefix('.')}".rstrip(".")
