"""`panel.gpio: auto`: detects what the panel is wired to on this machine, once at the start.

In: the settings, the machine's device tree, the labels of its GPIO chips. Out: the settings with
the detected wiring in place of `auto`. This module requests no line and drives none.
"""

from __future__ import annotations

import fcntl
import os
import struct
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec

from appliance.errors import SettingsError, ShownAs
from appliance.panel.boards import of_hat
from appliance.panel.pins import HEADERS
from appliance.runtime.machine import Machine
from appliance.settings import Settings
from appliance.settings.surroundings import NO_BUTTON

WAYS_OUT = "Set `mode: open` or `wake_word`, or wire a button and set `panel.gpio: header`."

# linux/gpio.h: _IOR(0xB4, 0x01, struct gpiochip_info), which is name[32], label[32], lines.
_CHIPINFO = 0x8044B401
_INFO = struct.Struct("=32s32sI")


def labels(folder: Path = Path("/dev")) -> frozenset[str]:
    """The labels of the GPIO chips that this user may open."""
    found = set()
    for path in folder.glob("gpiochip*"):
        try:
            fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            continue
        try:
            info = fcntl.ioctl(fd, _CHIPINFO, bytes(_INFO.size))
        except OSError:  # the file is not a GPIO chip
            continue
        finally:
            os.close(fd)
        found.add(_INFO.unpack(info)[1].partition(b"\0")[0].decode("ascii", "replace"))
    return frozenset(found)


def resolve_auto(
    settings: Settings,
    machine: Machine | None = None,
    chips: Callable[[], Iterable[str]] = labels,
) -> Settings:
    """`settings` with the detected wiring in place of `panel.gpio: auto`."""
    if settings.panel.gpio != "auto":
        return settings
    gpio = _gpio(settings, machine or Machine(), chips)
    panel = msgspec.structs.replace(settings.panel, gpio=gpio)
    return msgspec.structs.replace(settings, panel=panel)


def usable(settings: Settings, machine: Machine | None = None) -> Settings:
    """`resolve_auto`, then check that the box can be used. Raises SettingsError."""
    settings = resolve_auto(settings, machine)
    if settings.mode == "push_to_talk" and not settings.panel.here:
        problem = f"`mode: push_to_talk` cannot be used. {NO_BUTTON}"
        raise SettingsError(problem, WAYS_OUT, shown=ShownAs.of("setup-page-wrong-no-button"))
    return settings


def strange_hat(machine: Machine) -> str:
    """Names of unknown HATs, for which `auto` does not use the header; "" if there are none."""
    strange = [hat for hat in machine.hats() if of_hat(*hat) is None]
    return ", ".join(f"{product or 'without a name'} of {vendor or 'no vendor'}"
                     for vendor, product in strange)  # fmt: skip


def _gpio(settings: Settings, machine: Machine, chips: Callable[[], Iterable[str]]) -> str:
    panel = settings.panel
    boards = [of_hat(vendor, product) for vendor, product in machine.hats()]
    own = next((b.name for b in boards if b is not None and b.name != "header"), "")
    if own:
        return own
    # A configured mute switch or chip implies a header; a switch that cannot be read then cuts the
    # microphone.
    if panel.mute_switch or panel.chip:
        return "header"
    if None in boards:  # an unknown HAT may drive the same lines as the light
        return "none"
    # A Pi has its header even while its chip's driver is still being loaded. Any other machine
    # has one if a chip has the label of a Pi's header, as the kernel's simulator can.
    return "header" if machine.is_pi() or not set(HEADERS).isdisjoint(chips()) else "none"
