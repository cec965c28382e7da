"""`interlude config`: prints the settings in effect with the comments of settings/defaults.yaml."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import msgspec
import yaml

from appliance.settings import DEFAULTS, Settings, changed, load_defaults, owner_file

_LINE = re.compile(r"(?P<indent> *)(?P<key>\w+):(?P<value> .*?)?(?P<comment> +#.*)?")


def source(given_path: Path | None) -> str:
    """A comment that says where the settings come from."""
    path = given_path or owner_file()
    return (
        f"# The defaults, and over them {path}" if path else "# The defaults; no file changes them"
    )


def whole(settings: Settings, file_values: Mapping[str, Any] = MappingProxyType({})) -> str:
    """Every setting with its unit and reason, as YAML that can be loaded again.

    `file_values`: settings that were changed at run time, each with the value that the files have.
    """
    values = msgspec.to_builtins(settings)
    default = msgspec.to_builtins(load_defaults())
    lines = []
    path: list[str] = []
    for line in DEFAULTS.read_text(encoding="utf-8").splitlines():
        match = _LINE.fullmatch(line)
        if line.startswith("#"):
            continue  # the head of the file, which says how to copy it
        if match is None:
            lines.append(line)
            continue
        path = [*path[: len(match["indent"]) // 2], match["key"]]
        if match["value"] is None:
            lines.append(line)
            continue
        value, default_value = _at(values, path), _at(default, path)
        mark = "" if value == default_value else f" [default: {_as_yaml(default_value)}]"
        mark += _from_outside(file_values, ".".join(path))
        text = f"{match['indent']}{match['key']}: {_as_yaml(value)}"
        comment = (match["comment"] or "").strip() or ("#" if mark else "")
        lines.append(f"{text:<24} {comment}{mark}".rstrip())
    return "\n".join(lines).strip() + "\n"


def changes(settings: Settings, file_values: Mapping[str, Any] = MappingProxyType({})) -> str:
    """The settings that differ from the defaults, one a line, each with its default."""
    default = msgspec.to_builtins(load_defaults())
    lines = [
        f"{key}: {_as_yaml(value)}".ljust(40)
        + f" # default: {_as_yaml(_at(default, key.split('.')))}"
        + _from_outside(file_values, key)
        for key, value in changed(settings).items()
        if value is not None
    ]
    return "".join(f"{line}\n" for line in lines)


def _from_outside(file_values: Mapping[str, Any], key: str) -> str:
    return (
        f" [set from outside; the file: {_as_yaml(file_values[key])}]" if key in file_values else ""
    )


def _at(tree: Any, path: list[str]) -> Any:
    for key in path:
        if not isinstance(tree, dict) or key not in tree:
            return {}
        tree = tree[key]
    return tree


def _as_yaml(value: Any) -> str:
    """The value as YAML on one line."""
    if isinstance(value, str) and ("\n" in value or not value):
        return json.dumps(value, ensure_ascii=False)
    text = yaml.safe_dump(
        _without_none(value), default_flow_style=True, width=1_000_000, allow_unicode=True,
        sort_keys=False,
    )  # fmt: skip
    return text.removesuffix("...\n").strip()


def _without_none(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_none(v) for key, v in value.items() if v is not None}
    return list(value) if isinstance(value, tuple) else value
