"""Identity of the device for Home Assistant: an id that never changes, name and hardware."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from appliance import __version__
from appliance.runtime.machine import Machine
from appliance.settings import LinkSettings

ID_DIGITS = 8  # last digits of the serial number, in which two boards differ


@dataclass(frozen=True)
class DeviceIdentity:
    """`box`: part of every topic and id. `mac`, `hardware`: '' if unknown."""

    box: str
    name: str
    mac: str = ""
    hardware: str = ""
    version: str = __version__

    @classmethod
    def of(cls, link: LinkSettings, machine: Machine) -> DeviceIdentity:
        name = link.name or "Interlude"
        if link.id:  # several boxes on one machine: the same MAC would merge them into one device
            return cls(link.id, name, hardware=machine.name())
        return cls(_box(machine), name, machine.mac(), machine.name())


def _box(machine: Machine) -> str:
    """The end of the board's serial number, else a hash of the machine id, else of the MAC."""
    if serial := machine.serial():
        return serial[-ID_DIGITS:]
    if machine_id := machine.machine_id():  # hashed, as machine-id(5) asks
        return hashlib.sha256(f"interlude:{machine_id}".encode()).hexdigest()[:ID_DIGITS]
    return machine.mac().replace(":", "")[-ID_DIGITS:] or "box"
