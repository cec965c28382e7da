"""The network status of the box, in a world-readable file below /run/interlude-network.

The set-up and a change of network, which run as root, write it (provision/setup_session.py,
network_manager.py); the light, the link, the page and `interlude check` read it. It is on a tmpfs,
and contains no password.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from appliance.atomic_file import write_whole
from appliance.record_file import read_record

FOLDER = Path("/run/interlude-network")  # tmpfiles.d: owned by root
FILE = "network.json"


class NetworkStatus(msgspec.Struct, frozen=True, kw_only=True):
    """One status; each field may be empty.

    setup    name of the box's own Wi-Fi, while it is open
    problem  one sentence: why the box is in no network
    name     mDNS name of the box in its network: kitchen.local
    wifi     one sentence: why the last connection to the configured Wi-Fi failed
    card     one sentence: which entry of a file on the card cannot be used
    unconfirmed  name of the Wi-Fi that the box is in or joins, if its owner has not confirmed it
             (provision/network_manager.py): there the box does not connect to its broker
    """

    setup: str = ""
    problem: str = ""
    name: str = ""
    wifi: str = ""
    card: str = ""
    unconfirmed: str = ""


def write_status(network: NetworkStatus, folder: Path = FOLDER) -> None:
    """Write the status atomically. Raises OSError."""
    write_whole(folder / FILE, msgspec.json.encode(network), lasting=False)


def read_status(folder: Path = FOLDER) -> NetworkStatus:
    """The last status that was written; an empty one if there is none."""
    return read_record(folder / FILE, NetworkStatus) or NetworkStatus()
