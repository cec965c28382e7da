"""The blueprints that we ship: each is one, uses what it asks for, and knows what the box says."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml

from appliance.messages.commands import StateName
from appliance.mqtt.discovery import DiscoveryFeatures, payload
from appliance.mqtt.identity import DeviceIdentity
from appliance.mqtt.topics import Topics
from appliance.settings import LinkSettings

FOLDER = Path(__file__).parents[2] / "docs/blueprints"
FILES = sorted(FOLDER.glob("*.yaml"))
PAGE = (FOLDER.parent / "home-assistant.md").read_text(encoding="utf-8")
TOPICS = Topics("interlude", "homeassistant", "x")
COMPONENTS: dict[str, dict[str, Any]] = payload(
    TOPICS, DeviceIdentity("x", "x"), DiscoveryFeatures(("amy",), True, True, True, True)
)["cmps"]
NOT_STATES = {"unavailable", "on"}  # Home Assistant's own


class _Input(str):
    """`!input name`."""


class _Loader(yaml.SafeLoader):
    """YAML as Home Assistant reads a blueprint."""


def _input(loader: yaml.SafeLoader, node: yaml.Node) -> _Input:
    assert isinstance(node, yaml.ScalarNode)
    return _Input(loader.construct_scalar(node))


_Loader.add_constructor("!input", _input)


def load(path: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.load(path.read_text(encoding="utf-8"), _Loader)  # noqa: S506
    return loaded


def walk(tree: object) -> Iterator[object]:
    """Every leaf and every branch."""
    yield tree
    branches = tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ()
    for branch in branches:
        yield from walk(branch)


def test_the_five_are_there() -> None:
    assert {path.stem for path in FILES} == {
        "house-bridge", "duck-the-television", "button-to-scene", "announcement", "heat-warning",
    }  # fmt: skip


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_it_is_a_blueprint_of_an_automation(path: Path) -> None:
    made = load(path)
    head = made["blueprint"]
    assert head["domain"] == "automation"
    assert head["name"].startswith("Interlude: ")
    assert head["description"].endswith(".")
    assert head["homeassistant"]["min_version"] >= "2024.12.0"  # devices over MQTT since then
    assert {"triggers", "actions", "mode"} <= set(made)
    assert set(made) <= {"blueprint", "mode", "max", "max_exceeded", "variables", "triggers",
                         "conditions", "actions"}  # fmt: skip
    for asked in head["input"].values():
        assert asked["name"]
        assert len(asked["selector"]) == 1


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_it_uses_every_input_that_it_asks_for_and_no_other(path: Path) -> None:
    made = load(path)
    asked = set(made.pop("blueprint")["input"])
    assert {str(leaf) for leaf in walk(made) if isinstance(leaf, _Input)} == asked


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_its_templates_are_closed(path: Path) -> None:
    for leaf in walk(load(path)):
        if isinstance(leaf, str) and "{" in leaf:
            assert leaf.count("{{") == leaf.count("}}") > 0
            assert leaf.count("(") == leaf.count(")")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_states_that_it_waits_for_are_states_of_the_box(path: Path) -> None:
    triggers = [t for t in walk(load(path)) if isinstance(t, dict) and t.get("trigger") == "state"]
    for trigger in triggers:
        wanted = trigger.get("to", [])
        wanted = {wanted} if isinstance(wanted, str) else set(wanted)
        assert wanted - NOT_STATES <= set(get_args(StateName))


def test_the_television_is_ducked_in_every_state_in_which_somebody_talks() -> None:
    made = load(FOLDER / "duck-the-television.yaml")
    busy = made["variables"]["busy"]
    assert made["triggers"][0]["to"] == busy
    assert set(get_args(StateName)) - set(busy) == {"idle", "muted", "failed"}


def test_the_television_is_put_back_also_where_nobody_saw_the_talk_end() -> None:
    """A talk may be over before a slow television is lowered: no change of state would follow."""
    leaves = list(walk(load(FOLDER / "duck-the-television.yaml")["actions"]))
    assert not [leaf for leaf in leaves if isinstance(leaf, dict) and "wait_for_trigger" in leaf]
    until = [leaf["until"] for leaf in leaves if isinstance(leaf, dict) and "until" in leaf]
    assert until == ["{{ states(state) not in busy }}"]


def test_the_presses_that_can_be_chosen_are_those_of_the_button() -> None:
    asked = load(FOLDER / "button-to-scene.yaml")["blueprint"]["input"]["press"]
    assert set(asked["selector"]["select"]["options"]) <= set(COMPONENTS["button"]["evt_typ"])


# ── the owners' page ─────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_page_tells_of_the_blueprint(path: Path) -> None:
    assert f"blueprints/{path.name}" in PAGE


@pytest.mark.parametrize(
    "name", [c["name"] for c in COMPONENTS.values() if c["p"] != "device_automation"]
)
def test_the_page_tells_of_the_entity(name: str) -> None:
    assert f"| {name} |" in PAGE


def test_the_page_tells_of_every_setting_and_no_other() -> None:
    named = {word.removeprefix("link.") for word in _quoted(PAGE) if word.startswith("link.")}
    assert named <= set(LinkSettings.__struct_fields__)
    for field in ("broker", "user", "password_file", "tls", "ca_file", "words", "unmute"):
        assert field in named or f"{field}:" in PAGE


def test_the_page_has_an_access_list_for_every_topic_of_the_box() -> None:
    rules = [line.split() for line in PAGE.splitlines() if line.startswith("topic ")]
    allowed = [topic for _, right, topic in rules if right == "readwrite"]
    for topic in (*Topics("interlude", "homeassistant", "e63a4b5c").retained,):
        assert any(
            topic == rule or (rule.endswith("/#") and topic.startswith(rule[:-1]))
            for rule in allowed
        )
    assert ["topic", "read", "homeassistant/status"] in rules


def _quoted(page: str) -> list[str]:
    return page.split("`")[1::2]
