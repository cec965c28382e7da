"""The box as the house sees it: payloads, deadbands, problems."""

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
WELL = MachineReading(temperature_c=55.0, memory_percent=40)


def picture() -> StatePayloads:
    made = StatePayloads(
        TOPICS,
        status=BoxStatus("open", False, 0.8, "amy", "pocket"),
        started=BEGAN,
        version="1.2.3",
        interval_s=60,
    )
    made.update_reading(WELL)
    return made


def told(
    made: StatePayloads, topic: str, now_s: float = 0.0, story: ConversationEvents | None = None
) -> Any:
    return json.loads(made.payloads(story or ConversationEvents(), now_s)[topic])


def test_every_payload_has_all_its_keys_from_the_start() -> None:
    made = picture()
    assert told(made, TOPICS.state) == {"state": "idle"}
    assert told(made, TOPICS.settings) == {
        "mute": "OFF", "volume": 80, "voice": "amy", "mode": "open",
        "language": "auto",
    }  # fmt: skip
    assert told(made, TOPICS.telemetry) == {
        "latency": None, "temperature": 55, "throttled": False, "hw_mute": False,
        "problem": "none_found", "model": "pocket", "version": "1.2.3",
        "started": "2026-11-21T06:00:00+00:00", "turns": 0, "passed_on": 0,
        "download": 100, "memory": 40,
    }  # fmt: skip


def test_what_the_owner_sets_is_what_the_house_sees() -> None:
    made = picture()
    made.handle(BoxStatus("wake_word", True, 0.355, "espeak", "gemma-4-e2b"))
    assert told(made, TOPICS.settings) == {
        "mute": "ON", "volume": 36, "voice": "espeak", "mode": "wake_word",
        "language": "auto",
    }  # fmt: skip
    assert told(made, TOPICS.telemetry)["model"] == "gemma-4-e2b"


def test_the_switch_on_the_housing_is_told_at_once_and_nobody_unmutes_it() -> None:
    made = picture()
    assert told(made, TOPICS.telemetry)["hw_mute"] is False
    made.handle(BoxStatus("open", False, 0.8, "amy", "pocket", cut=True))
    assert told(made, TOPICS.settings)["mute"] == "ON"
    assert told(made, TOPICS.state) == {"state": "muted"}
    assert told(made, TOPICS.telemetry, 0.1)["hw_mute"] is True


def test_a_button_that_is_stuck_is_a_problem_until_it_works_again() -> None:
    made = picture()
    made.handle(BoxStatus("open", False, 0.8, "amy", "pocket", button="stuck"))
    assert told(made, TOPICS.telemetry)["problem"] == "button"
    made.handle(BoxStatus("open", False, 0.8, "amy", "pocket"))
    assert told(made, TOPICS.telemetry, 1.0)["problem"] == "none_found"


def test_a_disk_that_keeps_nothing_is_a_problem_until_it_does() -> None:
    made = picture()
    made.handle(BoxStatus("open", True, 0.8, "amy", "pocket", storage=True))
    assert told(made, TOPICS.telemetry)["problem"] == "storage"
    made.handle(BoxStatus("open", True, 0.8, "amy", "pocket"))
    assert told(made, TOPICS.telemetry, 1.0)["problem"] == "none_found"


def test_a_download_is_told_once_an_interval() -> None:
    made = picture()
    told(made, TOPICS.telemetry)
    made.update_reading(replace(WELL, download_percent=3))
    assert told(made, TOPICS.telemetry, 1.0)["download"] == 100
    assert told(made, TOPICS.telemetry, 60.0)["download"] == 3


def test_a_voice_that_has_not_come_up_yet_keeps_its_name() -> None:
    made = picture()
    made.handle(BoxStatus("open", False, 0.8))
    assert told(made, TOPICS.settings)["voice"] == "amy"
    assert told(made, TOPICS.telemetry)["model"] == "pocket"


def test_the_state_follows_at_once() -> None:
    made = picture()
    made.handle(StateChanged("holding", 3, 0))
    assert told(made, TOPICS.state) == {"state": "holding"}


def test_what_wanders_is_told_once_an_interval_and_only_beyond_its_deadband() -> None:
    made = picture()
    told(made, TOPICS.telemetry, 0.0)
    made.update_reading(replace(WELL, temperature_c=60.2, memory_percent=41))
    assert told(made, TOPICS.telemetry, 59.0)["temperature"] == 55
    now = told(made, TOPICS.telemetry, 60.0)
    assert (now["temperature"], now["memory"]) == (60, 40)
    made.update_reading(replace(WELL, temperature_c=60.9))
    assert told(made, TOPICS.telemetry, 200.0)["temperature"] == 60


def test_an_idle_box_that_neither_warms_nor_fills_tells_the_same_for_hours() -> None:
    made = picture()
    readings = [replace(WELL, temperature_c=55 + (n % 9) / 10, memory_percent=40 + n % 2)
                for n in range(720)]  # fmt: skip
    payloads = set()
    for number, reading in enumerate(readings):
        made.update_reading(reading)
        payloads.add(made.payloads(ConversationEvents(), 10.0 * number)[TOPICS.telemetry])
    assert len(payloads) == 1


@pytest.mark.parametrize(
    ("change", "key", "value"),
    [
        ({"throttled": True}, "throttled", True),
        ({"low_voltage": True}, "problem", "power"),
    ],
)
def test_what_is_urgent_is_told_at_once(change: dict[str, bool], key: str, value: object) -> None:
    made = picture()
    told(made, TOPICS.telemetry, 0.0)
    made.update_reading(replace(WELL, **change))
    assert told(made, TOPICS.telemetry, 1.0)[key] == value


def test_a_part_that_was_given_up_is_a_problem_until_it_is_up_again() -> None:
    made = picture()
    made.handle(PartChanged("thinker", "failed"))
    assert told(made, TOPICS.telemetry)["problem"] == "model"
    made.handle(PartChanged("thinker", "up"))
    assert told(made, TOPICS.telemetry)["problem"] == "none_found"


def test_a_card_that_is_gone_is_a_problem_until_it_is_found() -> None:
    made = picture()
    made.handle(BoxStatus("open", False, 0.8, broken=("the loudspeaker",)))
    assert told(made, TOPICS.telemetry)["problem"] == "loudspeaker"
    made.handle(BoxStatus("open", False, 0.8))
    assert told(made, TOPICS.telemetry)["problem"] == "none_found"


def test_the_start_moves_only_with_a_clock_that_was_set() -> None:
    made = picture()
    made.set_started(BEGAN + timedelta(seconds=2), 30)
    assert told(made, TOPICS.telemetry)["started"].startswith("2026-11-21T06:00:00")
    made.set_started(BEGAN + timedelta(days=300), 30)
    assert told(made, TOPICS.telemetry)["started"].startswith("2027-09-17")


@pytest.mark.parametrize("between", ["idle", "muted"])
def test_a_bell_between_two_rings_is_no_change_of_state(between: str) -> None:
    made = picture()
    made.handle(TimersStatus(ringing=True))
    for state in ("speaking", between, "speaking", between):
        made.handle(StateChanged(state, 1, 0))  # type: ignore[arg-type]  # one of the seven
        assert told(made, TOPICS.state) == {"state": "speaking"}
    made.handle(TimersStatus())
    assert told(made, TOPICS.state) == {"state": between}


def test_whoever_speaks_while_it_rings_is_told_of() -> None:
    made = picture()
    made.handle(TimersStatus(ringing=True))
    made.handle(StateChanged("listening", 1, 0))
    assert told(made, TOPICS.state) == {"state": "listening"}
