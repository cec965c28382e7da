"""The discovery payload. Its keys are those of payloads that Home Assistant has accepted."""

from __future__ import annotations

import dataclasses
import json
import re
from datetime import UTC, datetime
from typing import Any

import pytest

from appliance.messages.commands import BoxStatus
from appliance.mqtt import discovery
from appliance.mqtt.conversation_events import KINDS, ConversationEvents
from appliance.mqtt.discovery import DiscoveryFeatures
from appliance.mqtt.identity import DeviceIdentity
from appliance.mqtt.state_payloads import StatePayloads, as_json
from appliance.mqtt.topics import Topics

TOPICS = Topics("interlude", "homeassistant", "0a1b2c3d")
BOX = DeviceIdentity("0a1b2c3d", "Kitchen", "d8:3a:dd:0a:1b:2c", "Raspberry Pi 5", "1.2.3")
EVERYTHING = DiscoveryFeatures(("amy", "espeak"), True, True, True, True, True)
LEAST = DiscoveryFeatures(("espeak",))

# Platform → the keys that Home Assistant 2026.11 took without a warning, required ones first.
COMMON = {"p", "name", "uniq_id", "ent_cat", "ic", "en"}
ACCEPTED: dict[str, tuple[set[str], set[str]]] = {
    "sensor": (
        {"stat_t"},
        {"val_tpl", "dev_cla", "ops", "unit_of_meas", "stat_cla", "sug_dsp_prc"},
    ),
    "binary_sensor": ({"stat_t"}, {"val_tpl", "dev_cla"}),
    "switch": ({"cmd_t"}, {"stat_t", "val_tpl"}),
    "number": ({"cmd_t"}, {"stat_t", "val_tpl", "min", "max", "step", "mode", "unit_of_meas"}),
    "button": ({"cmd_t"}, {"dev_cla"}),
    "notify": ({"cmd_t"}, {"msg_exp_int"}),
    "event": ({"stat_t", "evt_typ"}, {"dev_cla"}),
    "select": ({"cmd_t", "ops"}, {"stat_t", "val_tpl"}),
    "update": ({"stat_t"}, {"cmd_t", "pl_inst"}),
    "device_automation": ({"atype", "type", "stype", "t"}, {"val_tpl", "pl"}),
}  # fmt: skip


def device(
    offers: DiscoveryFeatures = EVERYTHING, identity: DeviceIdentity = BOX
) -> dict[str, Any]:
    payload: dict[str, Any] = json.loads(json.dumps(discovery.payload(TOPICS, identity, offers)))
    return payload


def components(offers: DiscoveryFeatures = EVERYTHING) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = device(offers)["cmps"]
    return found


def present(offers: DiscoveryFeatures = EVERYTHING) -> dict[str, dict[str, Any]]:
    return {key: found for key, found in components(offers).items() if len(found) > 1}


def test_push_to_talk_can_be_chosen_only_where_there_is_a_button() -> None:
    assert components()["mode"]["ops"] == ["open", "push_to_talk", "wake_word"]
    assert components(LEAST)["mode"]["ops"] == ["open", "wake_word"]


def test_every_template_reads_a_field_of_the_payload_at_its_topic() -> None:
    payload = StatePayloads(
        TOPICS, status=BoxStatus("open", False, 0.8, "amy", "pocket"),
        started=datetime(2026, 11, 21, tzinfo=UTC), version="1.2.3", interval_s=60,
    )  # fmt: skip
    published = {
        topic: json.loads(data)
        for topic, data in payload.payloads(ConversationEvents(), 0.0).items()
    }
    read = [
        (found["stat_t"], field)
        for found in present().values()
        if found.get("stat_t") in published
        for field in re.findall(r"value_json\.(\w+)", found.get("val_tpl", ""))
    ]
    missing = [(topic, field) for topic, field in read if field not in published[topic]]
    assert missing == []
    never_read = {(topic, field) for topic in published for field in published[topic]} - set(read)
    assert never_read == set()


@pytest.mark.parametrize("key", present())
def test_a_component_has_the_keys_that_home_assistant_accepts_and_no_others(key: str) -> None:
    component = present()[key]
    required, allowed = ACCEPTED[component["p"]]
    keys = set(component)
    assert required <= keys
    assert keys <= required | allowed | COMMON
    if component["p"] != "device_automation":
        assert {"uniq_id", "name"} <= keys


def test_the_payload_has_what_home_assistant_requires_of_all() -> None:
    payload = device()
    assert payload["dev"]["ids"] == ["interlude_0a1b2c3d"]
    assert payload["o"]["name"]
    assert payload["avty_t"] == TOPICS.availability
    assert len(as_json(payload)) < 8192, "the size of the published payload"


def test_unique_ids_come_from_the_serial_number_and_are_unique() -> None:
    ids = [found["uniq_id"] for found in present().values() if "uniq_id" in found]
    assert len(set(ids)) == len(ids)
    assert all(identifier.startswith("interlude_0a1b2c3d_") for identifier in ids)


def test_a_box_that_is_renamed_keeps_its_unique_ids() -> None:
    renamed = DeviceIdentity("0a1b2c3d", "Hall", BOX.mac)
    assert device(identity=renamed)["cmps"] == device()["cmps"]


def test_no_entity_repeats_the_name_of_the_device() -> None:
    names = [found["name"] for found in present().values() if "name" in found]
    assert not any("interlude" in name.lower() or "kitchen" in name.lower() for name in names)
    assert all(re.fullmatch(r"[A-Z][a-z ]+", name) for name in names)


def test_turns_and_memory_are_there_and_off_by_default() -> None:
    off = {key for key, found in present().items() if found.get("en") is False}
    assert off == {"turns", "memory", "passed_on"}


def test_a_component_that_the_box_lacks_is_a_tombstone() -> None:
    least = components(LEAST)
    assert set(least) == set(components())
    gone = {key for key, found in least.items() if len(found) == 1}
    assert gone == {
        "button", "button_press", "button_double", "button_long", "button_release", "temperature",
        "throttled", "hw_mute",
    }  # fmt: skip
    assert {key: found["p"] for key, found in least.items()} == {
        key: found["p"] for key, found in components().items()
    }


def test_a_component_of_a_former_release_is_a_tombstone() -> None:
    now = discovery.payload(TOPICS, BOX, EVERYTHING, retired={"uptime": "sensor"})
    assert now["cmps"]["uptime"] == {"p": "sensor"}


def test_every_command_topic_is_one_that_the_box_handles() -> None:
    for component in present(LEAST).values():
        if topic := component.get("cmd_t"):
            assert TOPICS.name_of(topic) in {
                "set/mute", "set/volume", "set/voice", "set/mode", "set/language", "cmd/listen",
                "cmd/stop", "cmd/say", "cmd/ask", "cmd/restart",
            }  # fmt: skip


def test_only_a_box_that_can_be_updated_has_an_install_command() -> None:
    update = present()["update"]
    assert (update["cmd_t"], update["pl_inst"]) == (TOPICS.command("install"), "install")
    assert not {"cmd_t", "pl_inst"} & set(present(LEAST)["update"])


def test_every_press_of_the_button_is_an_event_and_a_device_trigger() -> None:
    triggers = [found for found in present().values() if found["p"] == "device_automation"]
    assert {found["pl"] for found in triggers} == set(present()["button"]["evt_typ"])
    assert {found["t"] for found in triggers} == {present()["button"]["stat_t"]}
    assert len({found["type"] for found in triggers}) == len(triggers) == 4


def test_the_broker_drops_late_texts() -> None:
    assert present()["say"]["msg_exp_int"] == present()["ask"]["msg_exp_int"] == 30


def test_every_kind_of_event_is_announced() -> None:
    assert present()["conversation"]["evt_typ"] == list(KINDS)


def test_a_box_without_board_or_network_card_omits_both() -> None:
    bare = device(identity=DeviceIdentity("x", "Interlude"))["dev"]
    assert "cns" not in bare
    assert "hw" not in bare


def test_the_languages_offered_are_those_with_sentences_and_the_current_one() -> None:
    def offered(language: str) -> list[str]:
        features = dataclasses.replace(LEAST, language=language)
        found: list[str] = device(features)["cmps"]["language"]["ops"]
        return found

    assert offered("auto") == ["auto", "en", "de"]
    assert offered("cy") == ["auto", "en", "de", "cy"]
