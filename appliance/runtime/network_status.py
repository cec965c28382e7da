"""How the box stands in its network, in a file that anybody may read: /run/interlude-network.

Root's set-up writes it (provision/setup_session.py); the light and `interlude check` read it. It
lies in memory, and holds no password.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from appliance.atomic_file import write_whole
from appliance.record_file import read_record

FOLDER = Path("/run/interlude-network")  # tmpfiles.d: root's
FILE = "network.json"


class NetworkStatus(msgspec.Struct, frozen=True, kw_only=True):
    """One reading; each field may be empty.

    setup    the name of the box's own Wi-Fi, while it is open
    problem  why the box is in nobody's network, in a sentence
    name     of the box in its network, as it is found there: kitchen.local
    wifi     why the Wi-Fi that is set up did not let the box in at the last try, likewise
    card     what a file on the card says that could not be used, likewise
    """

    setup: str = ""
    problem: str = ""
    name: str = ""
    wifi: str = ""
    card: str = ""


def write_status(network: NetworkStatus, folder: Path = FOLDER) -> None:
    """Whole or not at all. Raises OSError."""
    write_whole(folder / FILE, msgspec.json.encode(network), lasting=False)


def read_status(folder: Path = FOLDER) -> NetworkStatus:
    """The last reading; an empty one where there is none."""
    return read_record(folder / FILE, NetworkStatus) or NetworkStatus()
