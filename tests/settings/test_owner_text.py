"""A change of values in the owner's file neither loses nor moves a comment."""

from __future__ import annotations

import re

import pytest
import yaml

from appliance.errors import SettingsError
from appliance.settings import load_text
from appliance.settings.owner_text import with_values
from appliance.settings.section import Scalar

FILE = """\
# My box
mode: open   # talk

# The house
link:   # broker
  # the kitchen's broker
  broker: homeassistant.local   # Debian
  user: 'bob'

# Below: the panel
panel:
  gpio: header
tools:
  confirm:
    - unlock
    - open
hearing: {wake: {phrase: alexa}}
# the end
"""


def changed(text: str, **values: Scalar) -> str:
    dotted = {key.replace("__", "."): value for key, value in values.items()}
    return with_values(text, dotted, "settings.yaml")


def comments(text: str) -> list[str]:
    return re.findall(r"#.*", text)


def test_a_changed_value_changes_only_its_own_line() -> None:
    made = changed(FILE, link__broker="10.0.0.7")
    pairs = zip(FILE.splitlines(), made.splitlines(), strict=True)
    ((old, new),) = [(old, new) for old, new in pairs if old != new]
    assert old == "  broker: homeassistant.local   # Debian"
    assert new.startswith('  broker: "10.0.0.7"')
    assert comments(made) == comments(FILE)


def test_new_keys_go_into_their_section_and_comments_stay_with_their_key() -> None:
    values: dict[str, Scalar] = {
        "link.tls": True, "link.name": "Küche", "panel.night": "22:00-07:00", "language": "de",
        "panel.brightness": 0.5, "hearing.wake.sensitivity": 0.7, "speaking.volume": 0.25,
    }  # fmt: skip
    made = with_values(FILE, values, "settings.yaml")
    assert sorted(comments(made)) == sorted(comments(FILE))
    assert "  # the kitchen's broker\n  broker:" in made
    assert "# Below: the panel\npanel:" in made
    assert "# The house\nlink:" in made
    assert "# My box\nmode:" in made
    settings, before = load_text(made, "new"), load_text(FILE, "old")
    assert settings.link.name == "Küche"
    assert settings.link.tls
    assert settings.panel.night == "22:00-07:00"
    assert settings.hearing.wake.sensitivity == 0.7
    assert settings.link.user == before.link.user == "bob"
    assert settings.tools == before.tools


@pytest.mark.parametrize(
    "value", ["no", "on", "Yes", "null", "1", "1e3", "22:00", "0x1f", "2026-11-22", "a # b", "- a",
              "{a", "'", '"', "", " a ", "~", "é", "a: b", "a:", "*x", "&x", "!x", "%x", "1_0",
              ".5"]
)  # fmt: skip
@pytest.mark.parametrize("text", ["", FILE])
def test_any_text_value_is_read_back_unchanged(text: str, value: str) -> None:
    assert load_text(changed(text, link__name=value), "new").link.name == value


def test_a_file_of_comments_keeps_them_above_new_keys() -> None:
    made = changed("# mine\n# mode: wake_word\n", language="de")
    assert made == "# mine\n# mode: wake_word\n\nlanguage: de\n"


def test_an_empty_file_gets_the_new_keys() -> None:
    assert changed("", link__name="Attic") == "link:\n  name: Attic\n"


def test_the_owners_own_indentation_is_kept() -> None:
    text = "link:\n    broker: a\n    user: b # x\n    # c\n    port: 5\n"
    assert changed(text, link__port=6) == text.replace("port: 5", "port: 6")
    lists = "tools:\n  confirm:\n  - unlock\n  - open\nlink:\n  user: b\n"
    assert changed(lists, link__user="c") == lists.replace("user: b", "user: c")


def test_the_owners_long_lines_quotes_and_numbers_are_kept() -> None:
    text = (
        "thinking:\n  persona: \"" + "You are a box. " * 30 + "\"\n  temperature: 0.70\n"
        "memory:\n  keep_turns: 0x10\nlanguage: 'en'\n"
    )  # fmt: skip
    made = changed(text, link__name="A")
    assert made.replace("link:\n  name: A\n", "") == text


def test_invalid_yaml_and_duplicate_keys_are_refused() -> None:
    for text in ("link:\n  user: a\n user: b\n", "mode: open\nmode: open\n", "a: [\n"):
        with pytest.raises(SettingsError, match="Change it in an editor"):
            changed(text, language="de")


def test_our_own_defaults_with_all_their_comments_survive_a_change() -> None:
    from appliance.settings import DEFAULTS

    text = DEFAULTS.read_text(encoding="utf-8")
    made = changed(text, link__name="Kitchen", panel__night="", hearing__wake__phrase="alexa")
    assert comments(made) == comments(text)
    before, after = yaml.safe_load(text), yaml.safe_load(made)
    before["link"]["name"], before["panel"]["night"] = "Kitchen", ""
    before["hearing"]["wake"]["phrase"] = "alexa"
    assert after == before
