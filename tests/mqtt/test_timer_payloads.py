"""The payloads of timers and alarms."""

from __future__ import annotations

from typing import get_args

import pytest

from appliance.messages.tools import TimerEvent, TimerNews, TimersStatus
from appliance.mqtt.timer_payloads import event_payload, status_payload


def test_without_timers_the_payload_has_all_keys_and_no_time() -> None:
    payload = status_payload(TimersStatus())
    assert payload == {"timers": 0, "alarms": 0, "next": None, "ringing": False}


def test_the_next_timer_is_a_time_with_a_zone() -> None:
    payload = status_payload(
        TimersStatus(timers=1, alarms=2, next_at_s=1_795_000_000.9, ringing=True)
    )
    assert payload["next"] == "2026-11-18T11:06:40+00:00"
    assert (payload["timers"], payload["alarms"], payload["ringing"]) == (1, 2, True)


@pytest.mark.parametrize("news", get_args(TimerNews))
def test_a_timer_event_contains_no_words(news: TimerNews) -> None:
    payload = event_payload(TimerEvent(news, 2, alarm=True))
    assert payload == {"event_type": news, "kind": "alarm", "number": 2, "length_s": 0}


def test_a_name_in_the_event_is_published() -> None:
    payload = event_payload(TimerEvent("rings", 1, alarm=False, name="eggs", length_s=300.4))
    assert (payload["name"], payload["kind"], payload["length_s"]) == ("eggs", "timer", 300)
