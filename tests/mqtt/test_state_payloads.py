"""The state payloads of the box: keys, deadbands, problems."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from appliance.messages.commands import BoxStatus, StateChanged
from appliance.messages.supervision import PartChanged
from appliance.messages.tools import TimersStatus
from appliance.mqtt.conversation_events import ConversationEvents
from appliance.mqtt.state_payloads import MachineReading, StatePayloads
from appliance.mqtt.topics import Topics

TOPICS = Topics("interlude", "homeassistant", "x")
BEGAN = datetime(2026, 11, 21, 6, 0, tzinfo=UTC)
NORMAL = MachineReading(temperature_c=55.0, memory_percent=40)


def new_payloads() -> StatePayloads:
    payloads = StatePayloads(
        TOPICS,
        status=BoxStatus("open", False, 0.8, "amy", "pocket"),
        started=BEGAN,
        version="1.2.3",
        interval_s=60,
    )
    payloads.update_reading(NORMAL)
    return payloads


def payload_of(
    payloads: StatePayloads,
    topic: str,
    now_s: float = 0.0,
    conversation: ConversationEvents | None = None,
) -> Any:
    return json.loads(payloads.payloads(conversation or ConversationEvents(), now_s)[topic])


def test_every_payload_has_all_its_keys_from_the_start() -> None:
    payloads = new_payloads()
    assert payload_of(payloads, TOPICS.state) == {"state": "idle"}
    assert payload_of(payloads, TOPICS.settings) == {
        "mute": "OFF", "volume": 80, "voice": "amy", "mode": "open",
        "language": "auto",
    }  # fmt: skip
    assert payload_of(payloads, TOPICS.telemetry) == {
        "latency": None, "temperature": 55, "throttled": False, "hw_mute": False,
        "problem": "none_found", "model": "pocket", "version": "1.2.3",
        "started": "2026-11-21T06:00:00+00:00", "turns": 0, "passed_on": 0,
        "download": 100, "memory": 40,
    }  # fmt: skip


def test_the_settings_payload_has_the_settings_of_the_owner() -> None:
    payloads = new_payloads()
    payloads.handle(BoxStatus("wake_word", True, 0.355, "espeak", "gemma-4-e2b"))
    assert payload_of(payloads, TOPICS.settings) == {
        "mute": "ON", "volume": 36, "voice": "espeak", "mode": "wake_word",
        "language": "auto",
    }  # fmt: skip
    assert payload_of(payloads, TOPICS.telemetry)["model"] == "gemma-4-e2b"


def test_the_mute_switch_is_published_at_once_as_mute() -> None:
    payloads = new_payloads()
    assert payload_of(payloads, TOPICS.telemetry)["hw_mute"] is False
    payloads.handle(BoxStatus("open", False, 0.8, "amy", "pocket", cut=True))
    assert payload_of(payloads, TOPICS.settings)["mute"] == "ON"
    assert payload_of(payloads, TOPICS.state) == {"state": "muted"}
    assert payload_of(payloads, TOPICS.telemetry, 0.1)["hw_mute"] is True


def test_a_stuck_button_is_a_problem_until_it_works_again() -> None:
    payloads = new_payloads()
    payloads.handle(BoxStatus("open", False, 0.8, "amy", "pocket", button="stuck"))
    assert payload_of(payloads, TOPICS.telemetry)["problem"] == "button"
    payloads.handle(BoxStatus("open", False, 0.8, "amy", "pocket"))
    assert payload_of(payloads, TOPICS.telemetry, 1.0)["problem"] == "none_found"


def test_a_storage_failure_is_a_problem_until_it_ends() -> None:
    payloads = new_payloads()
    payloads.handle(BoxStatus("open", True, 0.8, "amy", "pocket", storage=True))
    assert payload_of(payloads, TOPICS.telemetry)["problem"] == "storage"
    payloads.handle(BoxStatus("open", True, 0.8, "amy", "pocket"))
    assert payload_of(payloads, TOPICS.telemetry, 1.0)["problem"] == "none_found"


def test_download_progress_is_published_once_an_interval() -> None:
    payloads = new_payloads()
    payload_of(payloads, TOPICS.telemetry)
    payloads.update_reading(replace(NORMAL, download_percent=3))
    assert payload_of(payloads, TOPICS.telemetry, 1.0)["download"] == 100
    assert payload_of(payloads, TOPICS.telemetry, 60.0)["download"] == 3


def test_voice_and_model_keep_their_names_until_they_are_reported() -> None:
    payloads = new_payloads()
    payloads.handle(BoxStatus("open", False, 0.8))
    assert payload_of(payloads, TOPICS.settings)["voice"] == "amy"
    assert payload_of(payloads, TOPICS.telemetry)["model"] == "pocket"


def test_a_state_change_is_published_at_once() -> None:
    payloads = new_payloads()
    payloads.handle(StateChanged("holding", 3, 0))
    assert payload_of(payloads, TOPICS.state) == {"state": "holding"}


def test_readings_are_published_once_an_interval_and_only_beyond_the_deadband() -> None:
    payloads = new_payloads()
    payload_of(payloads, TOPICS.telemetry, 0.0)
    payloads.update_reading(replace(NORMAL, temperature_c=60.2, memory_percent=41))
    assert payload_of(payloads, TOPICS.telemetry, 59.0)["temperature"] == 55
    now = payload_of(payloads, TOPICS.telemetry, 60.0)
    assert (now["temperature"], now["memory"]) == (60, 40)
    payloads.update_reading(replace(NORMAL, temperature_c=60.9))
    assert payload_of(payloads, TOPICS.telemetry, 200.0)["temperature"] == 60


def test_small_fluctuations_of_the_readings_change_no_payload() -> None:
    payloads = new_payloads()
    readings = [replace(NORMAL, temperature_c=55 + (n % 9) / 10, memory_percent=40 + n % 2)
                for n in range(720)]  # fmt: skip
    telemetry = set()
    for number, reading in enumerate(readings):
        payloads.update_reading(reading)
        telemetry.add(payloads.payloads(ConversationEvents(), 10.0 * number)[TOPICS.telemetry])
    assert len(telemetry) == 1


@pytest.mark.parametrize(
    ("change", "key", "value"),
    [
        ({"throttled": True}, "throttled", True),
        ({"low_voltage": True}, "problem", "power"),
    ],
)
def test_urgent_readings_are_published_at_once(
    change: dict[str, bool], key: str, value: object
) -> None:
    payloads = new_payloads()
    payload_of(payloads, TOPICS.telemetry, 0.0)
    payloads.update_reading(replace(NORMAL, **change))
    assert payload_of(payloads, TOPICS.telemetry, 1.0)[key] == value


def test_a_failed_part_is_a_problem_until_it_is_up_again() -> None:
    payloads = new_payloads()
    payloads.handle(PartChanged("thinker", "failed"))
    assert payload_of(payloads, TOPICS.telemetry)["problem"] == "model"
    payloads.handle(PartChanged("thinker", "up"))
    assert payload_of(payloads, TOPICS.telemetry)["problem"] == "none_found"


def test_a_missing_sound_card_is_a_problem_until_it_is_found() -> None:
    payloads = new_payloads()
    payloads.handle(BoxStatus("open", False, 0.8, broken=("the loudspeaker",)))
    assert payload_of(payloads, TOPICS.telemetry)["problem"] == "loudspeaker"
    payloads.handle(BoxStatus("open", False, 0.8))
    assert payload_of(payloads, TOPICS.telemetry)["problem"] == "none_found"


def test_the_start_time_changes_only_after_a_clock_correction() -> None:
    payloads = new_payloads()
    payloads.set_started(BEGAN + timedelta(seconds=2), 30)
    assert payload_of(payloads, TOPICS.telemetry)["started"].startswith("2026-11-21T06:00:00")
    payloads.set_started(BEGAN + timedelta(days=300), 30)
    assert payload_of(payloads, TOPICS.telemetry)["started"].startswith("2027-09-17")


@pytest.mark.parametrize("between", ["idle", "muted"])
def test_a_pause_between_two_rings_does_not_change_the_state(between: str) -> None:
    payloads = new_payloads()
    payloads.handle(TimersStatus(ringing=True))
    for state in ("speaking", between, "speaking", between):
        payloads.handle(StateChanged(state, 1, 0))  # type: ignore[arg-type]  # one of the seven
        assert payload_of(payloads, TOPICS.state) == {"state": "speaking"}
    payloads.handle(TimersStatus())
    assert payload_of(payloads, TOPICS.state) == {"state": between}


def test_listening_during_a_ring_is_published() -> None:
    payloads = new_payloads()
    payloads.handle(TimersStatus(ringing=True))
    payloads.handle(StateChanged("listening", 1, 0))
    assert payload_of(payloads, TOPICS.state) == {"state": "listening"}
