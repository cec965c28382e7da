"""The blueprints in docs/blueprints: form, inputs, and the states that they wait for."""

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
NOT_STATES = {"unavailable", "on"}  # defined by Home Assistant


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
    """Yield the tree and every node below it."""
    yield tree
    branches = tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ()
    for branch in branches:
        yield from walk(branch)


def test_the_five_blueprints_exist() -> None:
    assert {path.stem for path in FILES} == {
        "house-bridge", "duck-the-television", "button-to-scene", "announcement", "heat-warning",
    }  # fmt: skip


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_it_is_a_blueprint_of_an_automation(path: Path) -> None:
    blueprint = load(path)
    head = blueprint["blueprint"]
    assert head["domain"] == "automation"
    assert head["name"].startswith("Interlude: ")
    assert head["description"].endswith(".")
    assert head["homeassistant"]["min_version"] >= "2024.12.0"  # MQTT device discovery
    assert {"triggers", "actions", "mode"} <= set(blueprint)
    assert set(blueprint) <= {"blueprint", "mode", "max", "max_exceeded", "variables", "triggers",
                         "conditions", "actions"}  # fmt: skip
    for field in head["input"].values():
        assert field["name"]
        assert len(field["selector"]) == 1


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_it_uses_exactly_the_inputs_that_it_declares(path: Path) -> None:
    blueprint = load(path)
    declared = set(blueprint.pop("blueprint")["input"])
    assert {str(leaf) for leaf in walk(blueprint) if isinstance(leaf, _Input)} == declared


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_brackets_of_its_templates_are_balanced(path: Path) -> None:
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


def test_the_television_is_ducked_in_every_busy_state() -> None:
    blueprint = load(FOLDER / "duck-the-television.yaml")
    busy = blueprint["variables"]["busy"]
    assert blueprint["triggers"][0]["to"] == busy
    assert set(get_args(StateName)) - set(busy) == {"idle", "muted", "failed"}


def test_the_television_is_restored_even_if_the_end_of_the_talk_triggers_nothing() -> None:
    """A talk may end before a slow television is lowered; then no change of state follows."""
    leaves = list(walk(load(FOLDER / "duck-the-television.yaml")["actions"]))
    assert not [leaf for leaf in leaves if isinstance(leaf, dict) and "wait_for_trigger" in leaf]
    until = [leaf["until"] for leaf in leaves if isinstance(leaf, dict) and "until" in leaf]
    assert until == ["{{ states(state) not in busy }}"]


def test_every_selectable_press_is_one_that_the_button_reports() -> None:
    declared = load(FOLDER / "button-to-scene.yaml")["blueprint"]["input"]["press"]
    assert set(declared["selector"]["select"]["options"]) <= set(COMPONENTS["button"]["evt_typ"])


# ── the owners' page ─────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_page_links_to_the_blueprint(path: Path) -> None:
    assert f"blueprints/{path.name}" in PAGE


@pytest.mark.parametrize(
    "name", [c["name"] for c in COMPONENTS.values() if c["p"] != "device_automation"]
)
def test_the_page_lists_the_entity(name: str) -> None:
    assert f"| {name} |" in PAGE


def test_the_page_names_the_settings_and_no_unknown_one() -> None:
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
