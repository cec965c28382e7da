"""An Improv device beside the set-up: what a phone sends goes the way of the set-up page.

Root's folder says that there is a set-up and how its tries end, the own one takes what was sent
(setup_server.py, submitted_form.py). In: what a phone writes, and the files. Out: the device's
values; files.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from appliance.panel.health import FILE as PANEL
from appliance.panel.health import PanelHealth
from appliance.provision import submitted_form
from appliance.provision.improv.device import IdentifyBox, ImprovDevice, SubmitSeed
from appliance.provision.improv.packets import ImprovState
from appliance.provision.setup_server import FOLDER, PROBLEM, SetupAccess, read_access
from appliance.record_file import read_record
from appliance.runtime import network_status

BOX = Path("/run/interlude")  # RuntimeDirectory= of the box: its panel writes there
TOLD_S = 10.0  # that a phone has to read how it ended
NAMELESS_S = 60.0  # after the set-up ended without a problem, until the box has to have a name

# When a file was written, and which one it is; (0, 0) for none.
FileStamp = tuple[int, int]


@dataclass(frozen=True)
class ImprovFolders:
    """root: of set-up; own: of the page's user; public: how the network is; box: the panel's."""

    root: Path = FOLDER
    own: Path = submitted_form.FOLDER
    public: Path = network_status.FOLDER
    box: Path = BOX


def wanted(access: SetupAccess | None) -> SetupAccess | None:
    """Of a set-up, whether a phone may have a part in it: the box is in no network, or its button
    asked for it."""
    return access if access is not None and (access.asked or not access.cable) else None


@dataclass
class ImprovSession:
    """`about`: firmware, version, hardware, name. Time is CLOCK_MONOTONIC."""

    about: tuple[str, str, str, str]
    folders: ImprovFolders
    now_s: float
    _access: SetupAccess | None = None
    _gone_s: float | None = None  # since when there is no set-up
    _problem: FileStamp = (0, 0)
    _over_s: float = 0.0  # once the box is in the Wi-Fi
    device: ImprovDevice = field(init=False)

    def __post_init__(self) -> None:
        self.device = ImprovDevice(self.about, self._networks, self.now_s)
        self.look(self.now_s)

    def write(self, data: bytes, now_s: float, phone: str, mtu: int) -> None:
        """What a phone writes. Raises OSError where it cannot be handed on.

        Only of who may hand over a Wi-Fi it counts as use of the set-up: anybody within reach can
        write, and would keep a box from the Wi-Fi that it knows.
        """
        let_in = self.device.state(now_s) is ImprovState.AUTHORIZED
        match self.device.write(data, now_s, phone, mtu):
            case SubmitSeed(seed):
                self._problem = self._stamp()
                try:
                    submitted_form.submit(self.folders.own, seed)
                except OSError:  # root will never see it: the phone may send it again
                    self.device.failed(now_s)
                    raise
            case IdentifyBox():
                submitted_form.ask_identify(self.folders.own)
        if let_in:
            submitted_form.mark_used(self.folders.own)

    def look(self, now_s: float) -> bool:
        """Follow what has happened. False: it is over."""
        access = wanted(read_access(self.folders.root))
        if access is not None:
            self._access, self._gone_s = access, None
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
        """How the try goes on that root has begun."""
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
        heard = self._access.networks if self._access else ()
        return [(each.name, each.dbm, each.secured) for each in heard]

    def _stamp(self) -> FileStamp:
        """Of root's word of what went wrong."""
        try:
            about = (self.folders.root / PROBLEM).lstat()
        except OSError:
            return (0, 0)
        return about.st_mtime_ns, about.st_ino
