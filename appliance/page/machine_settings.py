"""Requests of the page that concern the machine: change Wi-Fi or time zone, if the system is our
image; test a broker, on every box."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from appliance.runtime import network_status
from appliance.runtime.handed_changes import HandedChanges
from appliance.runtime.handed_request import WANTED
from appliance.settings.network_change import BROKER_ANSWER, BROKER_TRIAL, NETWORK
from appliance.update.system.target import PiTarget

ZONES = Path("/usr/share/zoneinfo/tzdata.zi")
WIFI_S = 300.0  # for two attempts: the new Wi-Fi, then the previous one


@dataclass(frozen=True)
class MachineSettings:
    """`card`: this system was made from our image, and has the unit for these requests."""

    network: HandedChanges
    broker: HandedChanges
    card: bool
    localtime: Path = Path("/etc/localtime")
    zones_file: Path = ZONES
    public: Path = network_status.FOLDER

    @property
    def unconfirmed(self) -> str:
        """The Wi-Fi that the box is in without its owner having confirmed it; "" if none."""
        return network_status.read_status(self.public).unconfirmed

    @property
    def zone(self) -> str:
        """The present time zone; "" if unknown."""
        try:
            return str(self.localtime.readlink()).partition("zoneinfo/")[2]
        except OSError:
            return ""

    def zones(self) -> tuple[str, ...]:
        """All time zones without aliases; () if there is no list."""
        try:
            lines = self.zones_file.read_text(encoding="ascii").splitlines()
        except (OSError, UnicodeDecodeError):
            return ()
        found = {words[1] for line in lines if (words := line.split())[:1] == ["Z"]}
        return tuple(sorted(name for name in found if "/" in name))


def machine_settings(now_s: Callable[[], float]) -> MachineSettings:
    """The requests for this machine."""
    return MachineSettings(
        HandedChanges(NETWORK, now_s, longest_s=WIFI_S),
        HandedChanges(BROKER_TRIAL, now_s, changed=WANTED, told=BROKER_ANSWER),
        PiTarget().slot() is not None,
    )
