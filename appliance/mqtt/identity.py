"""Identity of the device for Home Assistant: an id that never changes, name and hardware."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from appliance import __version__
from appliance.runtime.machine import Machine
from appliance.settings import LinkSettings

ID_DIGITS = 8  # of the serial number's end: the digits in which two boards differ


@dataclass(frozen=True)
class DeviceIdentity:
    """`box`: part of every topic and id. `mac`, `hardware`: '' where there is none."""

    box: str
    name: str
    mac: str = ""
    hardware: str = ""
    version: str = __version__

    @classmethod
    def of(cls, link: LinkSettings, machine: Machine) -> DeviceIdentity:
        name = link.name or "Interlude"
        if link.id:  # one of several boxes on one machine: the address would make them one
            return cls(link.id, name, hardware=machine.name())
        return cls(_box(machine), name, machine.mac(), machine.name())


def _box(machine: Machine) -> str:
    """The end of the board's serial number, or of something as lasting."""
    if serial := machine.serial():
        return serial[-ID_DIGITS:]
    if installation := machine.machine_id():  # never told to anybody as it is: machine-id(5)
        return hashlib.sha256(f"interlude:{installation}".encode()).hexdigest()[:ID_DIGITS]
    return machine.mac().replace(":", "")[-ID_DIGITS:] or "box"
