"""Timers as the house sees them."""

from __future__ import annotations

from typing import get_args

import pytest

from appliance.messages.tools import TimerEvent, TimerNews, TimersStatus
from appliance.mqtt.timer_payloads import event_payload, status_payload


def test_nothing_set_is_all_keys_and_no_time() -> None:
    told = status_payload(TimersStatus())
    assert told == {"timers": 0, "alarms": 0, "next": None, "ringing": False}


def test_the_next_one_is_a_time_with_its_zone() -> None:
    told = status_payload(TimersStatus(timers=1, alarms=2, next_at_s=1_795_000_000.9, ringing=True))
    assert told["next"] == "2026-11-18T11:06:40+00:00"
    assert (told["timers"], told["alarms"], told["ringing"]) == (1, 2, True)


@pytest.mark.parametrize("news", get_args(TimerNews))
def test_what_became_of_one_is_an_event_without_words(news: TimerNews) -> None:
    told = event_payload(TimerEvent(news, 2, alarm=True))
    assert told == {"event_type": news, "kind": "alarm", "number": 2, "length_s": 0}


def test_a_name_that_the_owner_lets_out_is_told() -> None:
    told = event_payload(TimerEvent("rings", 1, alarm=False, name="eggs", length_s=300.4))
    assert (told["name"], told["kind"], told["length_s"]) == ("eggs", "timer", 300)
