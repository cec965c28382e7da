"""How often browsers without access may make the box speak."""

from __future__ import annotations

from appliance.page.announcement_limit import (
    MOST,
    MOST_NETWORKS,
    MOST_OF_ONE,
    PAUSE_S,
    AnnouncementLimit,
)

DAY_S = 86_400


def spoken(
    limit: AnnouncementLimit, networks: list[str], until_s: int, step_s: int = 10
) -> list[int]:
    """When the box speaks if each network asks again every `step_s` seconds."""
    found: list[int] = []
    for now_s in range(0, until_s, step_s):
        for network in networks:
            if not limit.wait_s(network, now_s):
                limit.spend(network, now_s)
                found.append(now_s)
    return found


def test_three_announcements_at_once_then_one_each_twenty_minutes_then_each_forty() -> None:
    strangers = [f"10.0.0.{number}" for number in range(9)]
    found = spoken(AnnouncementLimit(0), strangers, DAY_S)
    assert found[:MOST] == [0, 0, 0]
    minutes = [now_s // 60 for now_s in found[MOST:8]]
    assert minutes == [20, 60, 100, 140, 180]
    assert len(found) <= 40, "in a day, at whatever number of addresses"


def test_the_pauses_of_one_address_double() -> None:
    found = spoken(AnnouncementLimit(0), ["10.0.0.1"], DAY_S)
    assert [now_s // 60 for now_s in found[:7]] == [0, 0, 20, 60, 140, 300, 460]
    assert len(found) <= 14


def test_a_stranger_at_one_address_never_takes_the_last_announcement() -> None:
    limit = AnnouncementLimit(0)
    for now_s in range(0, 3 * DAY_S, 10):
        if not limit.wait_s("10.0.0.1", now_s):
            limit.spend("10.0.0.1", now_s)
        assert not limit.wait_s("10.0.0.2", now_s), now_s


def test_the_wait_is_told_in_seconds() -> None:
    limit = AnnouncementLimit(0)
    for number in range(MOST_OF_ONE):
        assert limit.wait_s("10.0.0.1", 0) == 0
        limit.spend("10.0.0.1", 0)
        assert limit.wait_s("10.0.0.2", number) == 0
    assert limit.wait_s("10.0.0.1", 0) == PAUSE_S
    assert round(limit.wait_s("10.0.0.1", 60)) == PAUSE_S - 60


def test_the_number_of_remembered_networks_is_limited() -> None:
    limit = AnnouncementLimit(0)
    for number in range(3 * MOST_NETWORKS):
        limit.spend(f"10.0.0.{number}", 0)
    assert len(limit._of) == MOST_NETWORKS
