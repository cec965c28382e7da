"""Home Assistant's discovery payload: one retained message with every entity of the box. Pure.

The keys are Home Assistant's abbreviations (its page "MQTT discovery"). A component that this box
does not have is sent as a tombstone, since Home Assistant does not remove one that is left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, get_args

from appliance.messages.commands import ModeName, PressName, StateName
from appliance.messages.tools import TimerNews
from appliance.mqtt.command_topics import INSTALL
from appliance.mqtt.conversation_events import KINDS
from appliance.mqtt.identity import DeviceIdentity
from appliance.mqtt.language_setting import OFFERED
from appliance.mqtt.problem_state import PROBLEMS
from appliance.mqtt.topics import Topics
from appliance.settings.language import ANY

# Components of earlier releases, sent as tombstones so that Home Assistant removes them:
# key → platform.
RETIRED: dict[str, str] = {}

TEXT_EXPIRES_S = 30  # the broker discards a text to say or ask that is older

Component = dict[str, Any]


@dataclass(frozen=True)
class DiscoveryFeatures:
    """Optional features of a box."""

    voices: tuple[str, ...] = ()
    temperature: bool = False
    throttled: bool = False
    button: bool = False
    mute_switch: bool = False
    installs: bool = False
    language: str = ANY


def payload(
    topics: Topics,
    identity: DeviceIdentity,
    features: DiscoveryFeatures,
    retired: Mapping[str, str] = RETIRED,
) -> dict[str, Any]:
    """Return the device and its components, to be encoded as JSON."""
    device: dict[str, Any] = {
        "ids": [topics.device],
        "name": identity.name,
        "mf": "Interlude",
        "mdl": "Interlude",
        "sw": identity.version,
        "sn": identity.box,
    }
    if identity.mac:
        device["cns"] = [["mac", identity.mac]]
    if identity.hardware:
        device["hw"] = identity.hardware
    return {
        "dev": device,
        "o": {"name": "interlude", "sw": identity.version},
        "avty_t": topics.availability,
        "qos": 1,
        "cmps": _components(topics, features, retired),
    }


def _components(
    topics: Topics, features: DiscoveryFeatures, retired: Mapping[str, str]
) -> dict[str, Component]:
    components = {
        **_main(topics),
        **_timers(topics),
        **_button(topics),
        **_config(topics, features),
        **_diagnostic(topics),
    }
    absent = {
        "button": not features.button,
        "button_press": not features.button,
        "button_double": not features.button,
        "button_long": not features.button,
        "button_release": not features.button,
        "temperature": not features.temperature,
        "throttled": not features.throttled,
        "hw_mute": not features.mute_switch,
    }
    for key, component in components.items():
        if component["p"] != "device_automation":  # a trigger has no entity, so no unique id
            component["uniq_id"] = f"{topics.device}_{key}"
        if absent.get(key):
            components[key] = {"p": component["p"]}
    return components | {key: {"p": platform} for key, platform in retired.items()}


def _main(topics: Topics) -> dict[str, Component]:
    return {
        "state": {
            "p": "sensor",
            "name": "State",
            "dev_cla": "enum",
            "ops": list(get_args(StateName)),
            "stat_t": topics.state,
            "val_tpl": "{{ value_json.state }}",
            "ic": "mdi:account-voice",
        },
        "mute": {
            "p": "switch",
            "name": "Microphone mute",  # not "Mute", since announcements are still spoken
            "stat_t": topics.settings,
            "val_tpl": "{{ value_json.mute }}",
            "cmd_t": topics.set("mute"),
            "ic": "mdi:microphone-off",
        },
        "volume": {
            "p": "number",
            "name": "Volume",
            "stat_t": topics.settings,
            "val_tpl": "{{ value_json.volume }}",
            "cmd_t": topics.set("volume"),
            "min": 0,
            "max": 100,
            "step": 1,
            "mode": "slider",
            "unit_of_meas": "%",
            "ic": "mdi:volume-high",
        },
        "listen": {
            "p": "button",
            "name": "Listen",
            "cmd_t": topics.command("listen"),
            "ic": "mdi:microphone-message",
        },
        "stop": {
            "p": "button",
            "name": "Stop",
            "cmd_t": topics.command("stop"),
            "ic": "mdi:stop",
        },
        # notify, not text: Home Assistant's recorder would store the text as the entity's state.
        "say": {
            "p": "notify",
            "name": "Say",
            "cmd_t": topics.command("say"),
            "msg_exp_int": TEXT_EXPIRES_S,
        },
        "ask": {
            "p": "notify",
            "name": "Ask",
            "cmd_t": topics.command("ask"),
            "msg_exp_int": TEXT_EXPIRES_S,
        },
        "conversation": {
            "p": "event",
            "name": "Conversation",
            "stat_t": topics.conversation,
            "evt_typ": list(KINDS),
            "ic": "mdi:forum",
        },
    }


def _timers(topics: Topics) -> dict[str, Component]:
    return {
        "timer": {
            "p": "event",
            "name": "Timer",
            "stat_t": topics.timer,
            "evt_typ": list(get_args(TimerNews)),
            "ic": "mdi:timer-alert-outline",
        },
        "timers": {
            "p": "sensor",
            "name": "Timers and alarms",
            "stat_t": topics.timers,
            "val_tpl": "{{ value_json.timers + value_json.alarms }}",
            "ic": "mdi:timer-outline",
        },
        "next_timer": {
            "p": "sensor",
            "name": "Next timer",
            "stat_t": topics.timers,
            "val_tpl": "{{ value_json.next }}",
            "dev_cla": "timestamp",
        },
        "ringing": {
            "p": "binary_sensor",
            "name": "Ringing",
            "stat_t": topics.timers,
            "val_tpl": "{{ 'ON' if value_json.ringing else 'OFF' }}",
            "ic": "mdi:bell-ring",
        },
    }


def _button(topics: Topics) -> dict[str, Component]:
    def trigger(kind: str, event: str) -> Component:
        return {
            "p": "device_automation",
            "atype": "trigger",
            "type": kind,
            "stype": "button_1",
            "t": topics.button,
            "val_tpl": "{{ value_json.event_type }}",
            "pl": event,
        }

    return {
        "button": {
            "p": "event",
            "name": "Button",
            "stat_t": topics.button,
            "evt_typ": list(get_args(PressName)),
            "dev_cla": "button",
        },
        "button_press": trigger("button_short_press", "press"),
        "button_double": trigger("button_double_press", "double_press"),
        "button_long": trigger("button_long_press", "long_press"),
        "button_release": trigger("button_long_release", "release"),
    }


def _config(topics: Topics, features: DiscoveryFeatures) -> dict[str, Component]:
    # Without a command topic Home Assistant shows the version and no install button.
    install = {"cmd_t": topics.command(INSTALL), "pl_inst": INSTALL}
    return {
        "voice": {
            "p": "select",
            "name": "Voice",
            "stat_t": topics.settings,
            "val_tpl": "{{ value_json.voice }}",
            "cmd_t": topics.set("voice"),
            "ops": list(features.voices),
            "ent_cat": "config",
            "ic": "mdi:account-music",
        },
        "language": {
            "p": "select",
            "name": "Language",
            "stat_t": topics.settings,
            "val_tpl": "{{ value_json.language }}",
            "cmd_t": topics.set("language"),
            "ops": list(dict.fromkeys((*OFFERED, features.language))),
            "ent_cat": "config",
            "ic": "mdi:translate",
        },
        "mode": {
            "p": "select",
            "name": "Listening mode",
            "stat_t": topics.settings,
            "val_tpl": "{{ value_json.mode }}",
            "cmd_t": topics.set("mode"),
            "ops": [
                mode for mode in get_args(ModeName) if features.button or mode != "push_to_talk"
            ],
            "ent_cat": "config",
            "ic": "mdi:ear-hearing",
        },
        "restart": {
            "p": "button",
            "name": "Restart",
            "cmd_t": topics.command("restart"),
            "dev_cla": "restart",
            "ent_cat": "config",
        },
        "update": {
            "p": "update",
            "name": "Software",
            "stat_t": topics.update,
            "ent_cat": "config" if features.installs else "diagnostic",
            **(install if features.installs else {}),
        },
    }


def _diagnostic(topics: Topics) -> dict[str, Component]:
    def reading(platform: str, name: str, key: str, **more: object) -> Component:
        template = f"{{{{ value_json.{key} }}}}"
        if platform == "binary_sensor":
            template = f"{{{{ 'ON' if value_json.{key} else 'OFF' }}}}"
        return {
            "p": platform,
            "name": name,
            "stat_t": topics.telemetry,
            "val_tpl": template,
            "ent_cat": "diagnostic",
            **more,
        }

    measured = {"stat_cla": "measurement", "sug_dsp_prc": 0}
    return {
        "latency": reading("sensor", "Response time", "latency", dev_cla="duration",
                           unit_of_meas="ms", **measured),
        "temperature": reading("sensor", "Processor temperature", "temperature",
                               dev_cla="temperature", unit_of_meas="°C", **measured),
        "throttled": reading("binary_sensor", "Throttled", "throttled", dev_cla="problem"),
        "hw_mute": reading("binary_sensor", "Hardware mute", "hw_mute", ic="mdi:microphone-off"),
        "problem": reading("sensor", "Problem", "problem", dev_cla="enum", ops=list(PROBLEMS),
                           ic="mdi:alert-circle-outline"),
        "model": reading("sensor", "Language model", "model", ic="mdi:brain"),
        "download": reading("sensor", "Model download", "download", unit_of_meas="%",
                            ic="mdi:download"),
        "version": reading("sensor", "Version", "version", ic="mdi:tag"),
        "started": reading("sensor", "Started", "started", dev_cla="timestamp"),
        "turns": reading("sensor", "Turns", "turns", stat_cla="total_increasing", en=False),
        "passed_on": reading("sensor", "Sentences of another voice", "passed_on",
                             stat_cla="total_increasing", ic="mdi:account-voice", en=False),
        "memory": reading("sensor", "Memory used", "memory", unit_of_meas="%",
                          stat_cla="measurement", en=False),
    }  # fmt: skip
