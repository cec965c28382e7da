"""The mute switch mutes at once, and unmutes only when the contact is stable."""

from __future__ import annotations

from appliance.panel.mute_switch import SURE_S, MuteSwitch


def test_the_switch_mutes_at_the_first_edge() -> None:
    assert MuteSwitch(off=False).level(True, 1.0)


def test_the_switch_unmutes_after_being_closed_long_enough() -> None:
    switch = MuteSwitch()
    assert switch.level(False, 1.0)
    assert switch.pending
    assert not switch.tick(1.0 + SURE_S)


def test_a_bouncing_contact_stays_muted() -> None:
    switch = MuteSwitch()
    for beat in range(100):
        now = beat * 0.01
        assert switch.level(beat % 2 == 0, now)
    switch.level(True, 1.0)
    assert switch.tick(2.0)
    assert not switch.pending


def test_an_unread_switch_mutes() -> None:
    assert MuteSwitch().off
