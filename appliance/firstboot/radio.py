"""The machine's networks, through NetworkManager's nmcli: the only file that calls it.

The set-up access point is a connection in memory (/run), with its password in a file of mode 0600
and never among a command's words.
"""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from appliance.errors import StorageError

SETUP = "interlude-setup"
OURS = "interlude-wifi"
ADDRESS = "10.42.0.1"
VOLATILE = Path("/run/NetworkManager/system-connections")
MOST_NAMES = 20
_STATIONS = ("ethernet", "wifi")


@dataclass(frozen=True)
class Radio:
    """`wait_s`: for a connection to come up."""

    volatile: Path = VOLATILE
    nmcli: str = "nmcli"
    wait_s: int = 45

    def connected(self) -> bool:
        """Whether the box is in somebody's network; the access point of its own is none."""
        return any(
            kind in _STATIONS and state == "connected" and name != SETUP
            for _, kind, state, name in self._devices()
        )

    def known(self) -> bool:
        """Whether a Wi-Fi has been set up, in reach or not."""
        rows = _rows(self._ask("-f", "TYPE,NAME", "connection", "show"))
        return any(row[0] == "802-11-wireless" and row[1] != SETUP for row in rows)

    def device(self) -> str:
        """The Wi-Fi's; "" if there is none."""
        return next((name for name, kind, _, _ in self._devices() if kind == "wifi"), "")

    def names(self) -> list[str]:
        """Of the networks in reach, the strongest first."""
        rows = _rows(self._ask("-f", "SSID", "device", "wifi", "list"))
        return list(dict.fromkeys(row[0] for row in rows if row[0]))[:MOST_NAMES]

    def open(self, name: str, password: str) -> None:
        """Be an access point. Raises StorageError."""
        path = self.volatile / f"{SETUP}.nmconnection"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o600)
        path.write_text(access_point(name, password), encoding="ascii")
        self._ask("connection", "load", str(path))
        self._ask("--wait", str(self.wait_s), "connection", "up", SETUP)

    def close(self) -> None:
        """Be none any more."""
        path = self.volatile / f"{SETUP}.nmconnection"
        if path.exists():
            path.unlink()
            self._ask("connection", "reload")

    def join(self) -> bool:
        """Enter the network that was written down. Whether it let the box in."""
        try:
            self._ask("connection", "reload")
            self._ask("--wait", str(self.wait_s), "connection", "up", OURS)
        except StorageError:
            return False
        return True

    def _devices(self) -> list[tuple[str, str, str, str]]:
        rows = _rows(self._ask("-f", "DEVICE,TYPE,STATE,CONNECTION", "device"))
        return [(row[0], row[1], row[2], row[3]) for row in rows if len(row) == 4]

    def _ask(self, *words: str) -> str:
        """Raises StorageError with nmcli's last words."""
        try:
            done = subprocess.run(
                [self.nmcli, "-t", *words],
                capture_output=True, text=True, errors="replace", check=False,
                timeout=self.wait_s + 30, stdin=subprocess.DEVNULL,
            )  # fmt: skip
        except (OSError, subprocess.TimeoutExpired) as error:
            raise StorageError(f"NetworkManager cannot be asked ({error}).") from error
        if done.returncode:
            last = (done.stderr or done.stdout).strip().splitlines()[-1:]
            raise StorageError(f"NetworkManager: {' '.join(last)}")
        return done.stdout


def access_point(name: str, password: str) -> str:
    """NetworkManager's file of it (nm-settings-keyfile(5)); whoever joins gets an address."""
    return "\n".join((
        "[connection]", f"id={SETUP}", "uuid=6a4b1f0c-6a4d-5a5c-9c39-1e7f1d0a7c11", "type=wifi",
        "autoconnect=false", "", "[wifi]", "mode=ap", f"ssid={name}", "", "[wifi-security]",
        "key-mgmt=wpa-psk", "proto=rsn", "pairwise=ccmp", f"psk={password}", "", "[ipv4]",
        "method=shared", f"address1={ADDRESS}/24", "", "[ipv6]", "method=disabled", "",
    ))  # fmt: skip


def _rows(said: str) -> list[list[str]]:
    """The terse output of nmcli: fields between colons, of which one in a field is escaped."""
    rows = []
    for line in said.splitlines():
        fields = re.split(r"(?<!\\):", line)
        rows.append([re.sub(r"\\(.)", r"\1", field) for field in fields])
    return rows
