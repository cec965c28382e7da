"""The set-up that is open: root's files about it, which the processes of the set-up page read.

/run/interlude-setup/open      exists during the set-up; address, networks in range
/run/interlude-setup/problem   the problem of the last attempt, in a sentence
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from appliance.language.catalogue import SOURCE
from appliance.provision.network_manager import WifiInReach
from appliance.record_file import read_record

FOLDER = Path("/run/interlude-setup")  # tmpfiles.d: root's; the page's user may read
OPEN, PROBLEM = "open", "problem"


class SetupAccess(msgspec.Struct, frozen=True):
    """Root's file about a set-up. `port`: another than 80 only in tests. `networks`: in range,
    the strongest first. `cable`: the box is in a network by cable and needs no Wi-Fi. `asked`:
    requested by the button. `settled`: the box had a Wi-Fi or a broker when the set-up began.
    `language`: of the page for a browser that wants none of ours. `pages`: the page's later address
    in the home network, with `{}` for the box's name; "": none.
    """

    address: str
    port: int = 80
    networks: tuple[WifiInReach, ...] = ()
    cable: bool = False
    asked: bool = False
    settled: bool = False
    language: str = SOURCE
    pages: str = ""


def read_access(folder: Path) -> SetupAccess | None:
    return read_record(folder / OPEN, SetupAccess)


def read_problem(folder: Path) -> str:
    """The problem of the last attempt; "" if there is none."""
    try:
        return (folder / PROBLEM).read_text(encoding="utf-8")
    except OSError:
        return ""
