"""What the box does while a browser waits to be let in."""

from __future__ import annotations

from appliance.messages.commands import Announced, ButtonPressed, Say
from appliance.page.on_pairing import follow
from appliance.page.pairing import FRESH_S, Pairing
from tests.page.desk import CODE, Desk


def hears(desk: Desk, *, heard: bool = True) -> None:
    """The box's announcements come to their end, or not."""
    for say in [message for message in desk.sent if isinstance(message, Say)]:
        follow(desk.box, Announced(say.number, heard))


def interrupts(desk: Desk) -> None:
    hears(desk, heard=False)


def hears_and_presses(desk: Desk) -> None:
    hears(desk)
    presses(desk)


def wants_printed(desk: Desk) -> None:
    desk.box.pairing = Pairing(printed=CODE)


def presses(desk: Desk) -> None:
    desk.now_s += 2.0
    follow(desk.box, ButtonPressed("press"))


def is_night(desk: Desk) -> None:
    desk.night = True
    desk.now_s += FRESH_S
