"""Makes docs/reference/mqtt-topics.md: a box's topics, and its entities in Home Assistant."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from appliance.mqtt import discovery
from appliance.mqtt.command_topics import COMMANDS
from appliance.mqtt.discovery import DiscoveryFeatures
from appliance.mqtt.identity import DeviceIdentity
from appliance.mqtt.topics import Topics

TOPICS = Topics("interlude", "homeassistant", "ID")
HEAD = """# MQTT topics

Every topic of a box, from `appliance/mqtt/topics.py` and `command_topics.py`, and every entity of
`discovery.py`; made by `python -m scripts.reference`.

`ID` is the box's id (`link.id`); `interlude` is `link.base`, `homeassistant` is
`link.discovery_prefix`. Retained messages are sent with QoS 1, events once with QoS 0; the box
subscribes with QoS 1. [The page on Home Assistant](../home-assistant.md) has examples.
"""

# Property of Topics → payload, for topics that the box publishes and, below, that it subscribes to.
PUBLISHED = {
    "discovery": "JSON: the device with every entity (below); empty: removed",
    "availability": "`online`, `offline`; the last will is `offline`",
    "state": "JSON: `state`",
    "settings": "JSON: `mute` (`ON`, `OFF`), `volume` (0 to 100), `voice`, `mode`, `language`",
    "telemetry": (
        "JSON: `throttled`, `hw_mute`, `problem`, `model`, `version`, `started` (ISO 8601), "
        "`latency` (ms), `temperature` (°C), `turns`, `passed_on`, `download` (%), `memory` (%)"
    ),
    "update": (
        "JSON: `installed_version`, `latest_version`, `title`, `release_summary`, `in_progress`, "
        "`update_percentage`"
    ),
    "timers": "JSON: `timers`, `alarms`, `next` (ISO 8601 or null), `ringing`",
    "conversation": "JSON: `event_type` and what belongs to it",
    "button": "JSON: `event_type`",
    "timer": "JSON: `event_type`, `kind`, `number`, `length_s`",
    "request": "JSON: `id`, `text`; only with `tools.home`",
}
SUBSCRIBED = {
    "birth": "`online` when Home Assistant has started: the box then sends every state again",
    "response": "JSON: `id`, `type`, `speech`; only with `tools.home`; refused when retained",
}
COMMAND_PAYLOADS = {
    "set/mute": "`ON`, `OFF`",
    "set/volume": "a number, 0 to 100",
    "set/mode": "`open`, `push_to_talk`, `wake_word`",
    "set/voice": "a name of the installed voices",
    "set/language": "`auto`, or a code such as `de`; counts after a restart",
    "cmd/listen": "`PRESS` or nothing",
    "cmd/stop": "`PRESS` or nothing",
    "cmd/say": "a text, UTF-8",
    "cmd/ask": "a text, UTF-8",
    "cmd/restart": "`PRESS` or nothing",
    "cmd/install": "`install`",
}


def entities() -> dict[str, dict[str, Any]]:
    """Key → discovery payload of the entity, for a box with every feature."""
    features = DiscoveryFeatures(
        voices=("espeak",), temperature=True, throttled=True, button=True, mute_switch=True,
        installs=True,
    )  # fmt: skip
    payload = discovery.payload(TOPICS, DeviceIdentity("ID", "Interlude"), features)
    components: dict[str, dict[str, Any]] = payload["cmps"]
    return components


def _published() -> Iterator[str]:
    for name, payload in PUBLISHED.items():
        topic = getattr(TOPICS, name)
        retained = "yes" if topic in TOPICS.retained else "no"
        yield f"| `{topic}` | box → broker | {retained} | {payload} |"
    for name, payload in SUBSCRIBED.items():
        yield f"| `{getattr(TOPICS, name)}` | broker → box | | {payload} |"


def _commands() -> Iterator[str]:
    for command in COMMANDS:
        yield (
            f"| `{TOPICS.root}/{command.name}` | {COMMAND_PAYLOADS[command.name]} | "
            f"{command.burst} at once, then one every {command.every_s:g} s |"
        )


def _entities() -> Iterator[str]:
    for key, entity in entities().items():
        state = entity.get("stat_t") or entity.get("t", "")
        cells = (
            f"`{key}`",
            entity["p"],
            entity.get("name", entity.get("type", "")),
            f"`{TOPICS.name_of(state)}`" if state else "",
            f"`{TOPICS.name_of(entity['cmd_t'])}`" if "cmd_t" in entity else "",
        )
        yield "| " + " | ".join(cells) + " |"


def page() -> str:
    """The page in Markdown: states and events, commands, entities."""
    lines = [
        HEAD,
        "## States, events and requests",
        "",
        "| topic | direction | retained | payload |",
        "|---|---|---|---|",
        *_published(),
        "",
        "## Commands",
        "",
        "From the broker to the box. A retained command is refused, and so is one above its rate.",
        "",
        "| topic | payload | how often |",
        "|---|---|---|",
        *_commands(),
        "",
        "## Entities of Home Assistant",
        "",
        f"Announced in one payload on `{TOPICS.discovery}`. Topics are below `{TOPICS.root}/`.",
        "",
        "| key | platform | name | state | command |",
        "|---|---|---|---|---|",
        *_entities(),
    ]
    return "\n".join(lines) + "\n"
