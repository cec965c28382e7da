"""The generated pages of docs/reference are up to date and complete."""

from __future__ import annotations

import argparse
from typing import get_args

import msgspec
import pytest
import yaml

from appliance.messages.registry import Message
from appliance.mqtt.command_topics import COMMANDS
from appliance.mqtt.topics import Topics
from appliance.settings import load_defaults
from scripts import (
    reference,
    reference_cli,
    reference_messages,
    reference_mqtt,
    reference_settings,
)

# Settings whose default text depends on `language`.
BY_LANGUAGE = {
    "hearing.words.yield", "hearing.words.carry_on", "hearing.words.stop",
    "hearing.words.repeat",
    "thinking.persona", "thinking.instruction",
}  # fmt: skip


def test_every_page_is_up_to_date_with_the_sources() -> None:
    assert reference.outdated() == [], "run: python -m scripts.reference"


def test_every_setting_has_a_row_with_its_default() -> None:
    rows = {row.key: yaml.safe_load(row.default) for row in reference_settings.rows()}

    def at(key: str) -> object:
        value = msgspec.to_builtins(load_defaults())
        for word in key.split("."):
            value = value[word]
        return value

    def leaves(tree: dict[str, object], above: str = "") -> set[str]:
        found = set[str]()
        for key, value in tree.items():
            inner = isinstance(value, dict) and value
            found |= leaves(value, f"{above}{key}.") if inner else {f"{above}{key}"}  # type: ignore[arg-type]
        return found

    assert rows.keys() == leaves(msgspec.to_builtins(load_defaults()))
    for key, default in rows.items():
        value = at(key)
        plain = list(value) if isinstance(value, tuple) else value
        assert default == plain or (default == "auto" and key in BY_LANGUAGE), key


def test_every_setting_has_a_meaning() -> None:
    silent = [row.key for row in reference_settings.rows() if not row.meaning]
    assert silent == []


def test_every_message_has_a_row_with_a_summary() -> None:
    rows = [
        row
        for path in reference_messages.FOLDER.glob("*.py")
        for row in reference_messages.messages(path)
    ]
    kinds = {kind.__name__ for kind in get_args(Message)}
    assert {row.name for row in rows} == kinds | {"ObservedMessage"}
    assert [row.name for row in rows if not row.summary] == []


def test_every_topic_of_a_box_is_on_the_page() -> None:
    topics = {name for name, value in vars(Topics).items() if isinstance(value, property)}
    listed = reference_mqtt.PUBLISHED.keys() | reference_mqtt.SUBSCRIBED.keys()
    assert listed == topics - {"root", "device", "commands", "retained"}
    assert reference_mqtt.COMMAND_PAYLOADS.keys() == {command.name for command in COMMANDS}


@pytest.mark.parametrize(
    ("nargs", "flags", "typed"),
    [
        (None, ("--wait",), "--wait S"),
        (0, ("--json",), "--json"),
        (None, (), "S"),
        ("?", (), "[S]"),
        ("*", (), "[S …]"),
        ("+", (), "S …"),
    ],
)
def test_an_argument_is_written_as_it_is_typed(
    nargs: int | str | None, flags: tuple[str, ...], typed: str
) -> None:
    action = argparse.Action(list(flags), "seconds", nargs=nargs, metavar="S")
    assert reference_cli.written(action) == typed
