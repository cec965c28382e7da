"""Connects an Improv device to the set-up session by the same files as the set-up page.

Root's folder tells whether there is a set-up, and the problem of an attempt; the page user's folder
receives the submitted Wi-Fi (setup_access.py, submitted_form.py). In: writes of a phone, and the
files. Out: the device's values; files.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from appliance.panel.health import FILE as PANEL
from appliance.panel.health import PanelHealth
from appliance.provision import submitted_form
from appliance.provision.improv.device import IdentifyBox, ImprovDevice, SubmitSeed
from appliance.provision.improv.packets import ImprovState
from appliance.provision.setup_access import FOLDER, PROBLEM, SetupAccess, read_access
from appliance.record_file import read_record
from appliance.runtime import network_status

BOX = Path("/run/interlude")  # RuntimeDirectory= of interlude.service: the panel writes there
TOLD_S = 10.0  # the session lasts so long after the success, so that the phone can read the result
NAMELESS_S = 60.0  # longest wait for the box's name after a set-up without a problem

# mtime in ns and inode of a file; (0, 0) if there is none.
FileStamp = tuple[int, int]


@dataclass(frozen=True)
class ImprovFolders:
    """root: of the set-up session; own: of the page's user; public: of the network status; box: of
    the panel's state."""

    root: Path = FOLDER
    own: Path = submitted_form.FOLDER
    public: Path = network_status.FOLDER
    box: Path = BOX


def wanted(access: SetupAccess | None) -> SetupAccess | None:
    """Return `access` if a phone may take part in this set-up: the box is not in a network by
    cable, or its button requested the set-up. Else None."""
    return access if access is not None and (access.asked or not access.cable) else None


@dataclass
class ImprovSession:
    """A device during a set-up. `about`: firmware, version, hardware, name. Time is
    CLOCK_MONOTONIC."""

    about: tuple[str, str, str, str]
    folders: ImprovFolders
    now_s: float
    _access: SetupAccess | None = None
    _gone_s: float | None = None  # end of the set-up
    _problem: FileStamp = (0, 0)
    _over_s: float = 0.0  # end of the session, once the box has joined the Wi-Fi
    device: ImprovDevice = field(init=False)

    def __post_init__(self) -> None:
        self.device = ImprovDevice(self.about, self._networks, self.now_s)
        self.look(self.now_s)

    def write(self, data: bytes, now_s: float, phone: str, mtu: int) -> None:
        """Handle a write of a phone. Raises OSError if the request cannot be written to its file.

        Only the write of an authorized phone counts as a use of the set-up: any phone in range can
        write, and could otherwise keep the box from returning to a known Wi-Fi.
        """
        authorized = self.device.state(now_s) is ImprovState.AUTHORIZED
        match self.device.write(data, now_s, phone, mtu):
            case SubmitSeed(seed):
                self._problem = self._stamp()
                try:
                    submitted_form.submit(self.folders.own, seed)
                except OSError:  # root will not see it, so the phone may send it again
                    self.device.failed(now_s)
                    raise
            case IdentifyBox():
                submitted_form.ask_identify(self.folders.own)
        if authorized:
            submitted_form.mark_used(self.folders.own)

    def look(self, now_s: float) -> bool:
        """Read the files and update the device. Returns False at the end of the session."""
        access = wanted(read_access(self.folders.root))
        if access is not None:
            self._access, self._gone_s = access, None
            self.device.settled = access.settled
        elif self._gone_s is None:
            self._gone_s = now_s
        panel = read_record(self.folders.box / PANEL, PanelHealth)
        if panel is not None and 0.0 < panel.pressed_s <= now_s:
            self.device.press(panel.pressed_s)
        state = self.device.state(now_s)
        if state is ImprovState.PROVISIONING:
            self._follow(access, now_s)
            return True
        if state is ImprovState.PROVISIONED:
            return now_s < self._over_s
        return access is not None

    def _follow(self, access: SetupAccess | None, now_s: float) -> None:
        """Follow root's attempt to join the submitted Wi-Fi."""
        self.device.tick(now_s)
        stamp = self._stamp()
        if stamp not in (self._problem, (0, 0)):
            self.device.failed(now_s)
            return
        if access is not None:
            return  # root has not taken it yet
        network = network_status.read_status(self.folders.public)
        assert self._gone_s is not None
        nameless = now_s - self._gone_s > NAMELESS_S and not network.problem
        if not network.setup and (network.name or nameless):
            self.device.joined(self._url(network.name))
            self._over_s = now_s + TOLD_S

    def _url(self, name: str) -> str:
        return self._access.pages.format(name) if self._access and name else ""

    def _networks(self) -> list[tuple[str, int, bool]]:
        networks = self._access.networks if self._access else ()
        return [(network.name, network.dbm, network.secured) for network in networks]

    def _stamp(self) -> FileStamp:
        """The stamp of root's file with the problem."""
        try:
            file_stat = (self.folders.root / PROBLEM).lstat()
        except OSError:
            return (0, 0)
        return file_stat.st_mtime_ns, file_stat.st_ino
