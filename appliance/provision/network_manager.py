"""Controls the machine's networks with NetworkManager's nmcli; no other file calls it.

The set-up access point is a connection in memory (/run), with its password in a file of mode 0600
and never in a command line. A second file configures its dnsmasq to resolve every name to the box,
so that a phone's captive-portal probe finds the page.

The connection UNCONFIRMED is never joined by NetworkManager itself. Before this module joins it, it
says so in the status file, so that the link does not connect to a broker there.
"""

from __future__ import annotations

import contextlib
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import msgspec

from appliance.atomic_file import write_whole
from appliance.errors import ShownAs, StorageError
from appliance.language.catalogue import BoxSentence
from appliance.provision import wifi_errors
from appliance.runtime import network_status

SETUP = "interlude-setup"
OURS = "interlude-wifi"
UNCONFIRMED = "interlude-wifi-unconfirmed"  # ids of seed_files.connection
ADDRESS = "10.42.0.1"
CHANNEL = 6  # of 2.4 GHz; access points are allowed on it in every country
VOLATILE = Path("/run/NetworkManager/system-connections")
# Read by the dnsmasq of every shared connection; the only one is set-up's, while it is open.
DNSMASQ = Path("/etc/NetworkManager/dnsmasq-shared.d/interlude-setup.conf")
MOST_NAMES = 20
_STATIONS = ("ethernet", "wifi")
_WIFI = "802-11-wireless"


# dnsmasq(8). Every name resolves to the box's address only. Option 114 (RFC 8910) tells the page's
# address to phones that ask for it. RFC 8908 requires https there, with a certificate that the
# phone trusts, which is impossible for a box without internet access. Phones that insist on https
# ignore the option and find the page by their probes.
ANSWERS = f"""no-resolv
address=/#/{ADDRESS}
local=/#/
dhcp-option=114,http://{ADDRESS}/
"""


@dataclass(frozen=True)
class JoinedNetwork:
    """A network to which the box is connected. `kind`: ethernet or wifi; `connection`: its name in
    NetworkManager."""

    kind: str
    device: str
    connection: str


class WifiInReach(msgspec.Struct, frozen=True):
    """A Wi-Fi in range. `secured`: it needs a password."""

    name: str
    dbm: int
    secured: bool


@dataclass(frozen=True)
class NmcliNetworks:
    """The networks of this machine. `wait_s`: timeout for a connection to come up."""

    volatile: Path = VOLATILE
    nmcli: str = "nmcli"
    wait_s: int = 45
    dnsmasq: Path = DNSMASQ
    public: Path = network_status.FOLDER

    def joined(self) -> JoinedNetwork | None:
        """The network to which the box is connected, Ethernet before Wi-Fi; None if there is none.
        The box's own access point does not count. Raises StorageError."""
        return min(self._connected(), key=lambda network: network.kind, default=None)

    def addresses(self) -> list[str]:
        """The box's IPv4 addresses in its network. Raises StorageError."""
        if (joined := self.joined()) is None:
            return []
        rows = _rows(self._ask("-f", "IP4.ADDRESS", "device", "show", joined.device))
        return [row[1].partition("/")[0] for row in rows if len(row) == 2]

    def known(self) -> list[str]:
        """The configured Wi-Fi connections, in range or not; OURS first, UNCONFIRMED last."""
        rows = _rows(self._ask("-f", "TYPE,NAME", "connection", "show"))
        names = [row[1] for row in rows if row[0] == _WIFI and row[1] != SETUP]
        return sorted(names, key=lambda name: (name != OURS, name == UNCONFIRMED))

    def left_out(self) -> str:
        """The configured Wi-Fi to which the box is not connected; "" while it is connected or
        connecting to one, or is an access point itself. Raises StorageError."""
        states = [state for _, kind, state, _ in self._devices() if kind == "wifi"]
        if not states or any(state.startswith("connect") for state in states):
            return ""
        return next((self.ssid(name) for name in self.known()), "")

    def device(self) -> str:
        """The name of the Wi-Fi device; "" if there is none."""
        return next((name for name, kind, _, _ in self._devices() if kind == "wifi"), "")

    def names(self) -> list[str]:
        """The names of the Wi-Fi networks in range, the strongest first."""
        return [network.name for network in self.in_reach()]

    def in_reach(self) -> list[WifiInReach]:
        """The Wi-Fi networks in range, the strongest first; of several with one name only the
        strongest."""
        rows = _rows(self._ask("-f", "SSID,SIGNAL,SECURITY", "device", "wifi", "list"))
        networks: dict[str, WifiInReach] = {}
        for name, signal, security in (row for row in rows if len(row) == 3 and row[0]):
            percent = int(signal) if signal.isdecimal() else 0
            networks.setdefault(name, WifiInReach(name, _dbm(percent), bool(security)))
        return list(networks.values())[:MOST_NAMES]

    def open(self, name: str, password: str) -> None:
        """Open an access point. Raises StorageError."""
        try:
            self.dnsmasq.parent.mkdir(parents=True, exist_ok=True)
            write_whole(self.dnsmasq, ANSWERS.encode(), lasting=False)
        except OSError:  # phones can still open the page by its address, which the box says aloud
            self.dnsmasq.unlink(missing_ok=True)
        path = self.volatile / f"{SETUP}.nmconnection"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o600)
        path.write_text(access_point(name, password), encoding="ascii")
        self._ask("connection", "load", str(path))
        self._ask("--wait", str(self.wait_s), "connection", "up", SETUP)

    def close(self) -> None:
        """Close the access point."""
        self.dnsmasq.unlink(missing_ok=True)
        path = self.volatile / f"{SETUP}.nmconnection"
        if path.exists():
            path.unlink()
            self._ask("connection", "reload")

    def join(self) -> BoxSentence | str:
        """Connect to the first configured Wi-Fi that works. Returns "", or why the first one
        failed."""
        problem: BoxSentence | str = ""
        try:
            self._ask("connection", "reload")
            known = self.known()
        except StorageError as error:
            return error.problem
        for name in known:
            try:
                self._up(name)
            except StorageError as error:
                problem = problem or wifi_errors.sentence(self.ssid(name), error.problem)
            else:
                return ""
        return problem or BoxSentence("wifi-none")

    def enter(self, name: str) -> BoxSentence | str:
        """Reload a connection and connect to its Wi-Fi. Returns "", or why that failed."""
        try:
            self._ask("connection", "reload")
            self._up(name)
        except StorageError as error:
            return wifi_errors.sentence(self.ssid(name), error.problem)
        return ""

    def see_unconfirmed(self) -> str:
        """Note in the status file whether the box is in the Wi-Fi UNCONFIRMED; return its SSID, or
        "". Raises StorageError."""
        joined = any(network.connection == UNCONFIRMED for network in self._connected())
        wifi = self.ssid(UNCONFIRMED) if joined else ""
        self._note_unconfirmed(wifi)
        return wifi

    def ssid(self, connection: str) -> str:
        """The SSID of a connection; the connection's name if it cannot be read."""
        try:
            output = self._ask("-f", f"{_WIFI}.ssid", "connection", "show", connection)
        except StorageError:
            return connection
        rows = _rows(output)
        return rows[0][1] if rows and len(rows[0]) == 2 else connection

    def _up(self, name: str) -> None:
        """Raises StorageError."""
        if name == UNCONFIRMED:
            self._note_unconfirmed(self.ssid(name))
        self._ask("--wait", str(self.wait_s), "connection", "up", name)
        if name != UNCONFIRMED and network_status.read_status(self.public).unconfirmed:
            with contextlib.suppress(StorageError):  # at worst the note stays until the next look
                self.see_unconfirmed()

    def _note_unconfirmed(self, wifi: str) -> None:
        """Raises StorageError."""
        status = network_status.read_status(self.public)
        if status.unconfirmed != wifi:
            changed = msgspec.structs.replace(status, unconfirmed=wifi)
            try:
                network_status.write_status(changed, self.public)
            except OSError as error:
                problem = f"{self.public} cannot be written ({error.strerror})."
                shown = ShownAs.of("page-wrong-network-asked")
                raise StorageError(problem, shown=shown) from error

    def _connected(self) -> list[JoinedNetwork]:
        return [
            JoinedNetwork(kind, device, name)
            for device, kind, state, name in self._devices()
            if kind in _STATIONS and state == "connected" and name != SETUP
        ]

    def _devices(self) -> list[tuple[str, str, str, str]]:
        rows = _rows(self._ask("-f", "DEVICE,TYPE,STATE,CONNECTION", "device"))
        return [(row[0], row[1], row[2], row[3]) for row in rows if len(row) == 4]

    def _ask(self, *words: str) -> str:
        """Run nmcli; return its output. Raises StorageError with nmcli's error message."""
        try:
            done = subprocess.run(
                [self.nmcli, "-t", *words],
                capture_output=True, text=True, errors="replace", check=False,
                timeout=self.wait_s + 30, stdin=subprocess.DEVNULL,
            )  # fmt: skip
        except (OSError, subprocess.TimeoutExpired) as error:
            problem = f"NetworkManager cannot be asked ({error})."
            shown = ShownAs.of("page-wrong-network-asked")
            raise StorageError(problem, shown=shown) from error
        if done.returncode:
            problem = f"NetworkManager: {_error_line(done.stderr or done.stdout)}"
            raise StorageError(problem, shown=ShownAs.of("page-wrong-network-refused"))
        return done.stdout


def access_point(name: str, password: str) -> str:
    """The access point as a connection file (nm-settings-keyfile(5)), with DHCP for its clients.

    Without a channel NetworkManager chooses 1, 6, 11 or 13 by the name, and a radio without a
    country (regulatory domain 00) must not open an access point on 12 and 13.
    """
    return "\n".join((
        "[connection]", f"id={SETUP}", "uuid=6a4b1f0c-6a4d-5a5c-9c39-1e7f1d0a7c11", "type=wifi",
        "autoconnect=false", "", "[wifi]", "mode=ap", f"ssid={name}", "band=bg",
        f"channel={CHANNEL}", "", "[wifi-security]", "key-mgmt=wpa-psk", "proto=rsn",
        "pairwise=ccmp", f"psk={password}", "", "[ipv4]", "method=shared",
        f"address1={ADDRESS}/24", "", "[ipv6]", "method=disabled", "",
    ))  # fmt: skip


def _dbm(percent: int) -> int:
    """Convert NetworkManager's percent to dBm: 0 is −100 dBm and 100 is −40 dBm (libnm-core,
    nm_wifi_utils_level_to_quality of 1.42)."""
    return round(0.6 * min(percent, 100)) - 100


def _error_line(output: str) -> str:
    """The error line of nmcli's output, where hints may follow it; else the last line."""
    lines = output.strip().splitlines()
    return next((line for line in lines if line.startswith("Error:")), "".join(lines[-1:]))


def _rows(output: str) -> list[list[str]]:
    """Split nmcli's terse output: fields are separated by colons; a backslash escapes a colon or a
    backslash in a field."""
    rows = []
    for line in output.splitlines():
        fields = re.findall(r"(?:^|:)((?:[^:\\]|\\.)*)", line)
        rows.append([re.sub(r"\\(.)", r"\1", field) for field in fields])
    return rows
