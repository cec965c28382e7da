"""The owner's home network, for a card that runs in QEMU: DHCP, mDNS and an MQTT broker.

Everything runs on this machine, on a bridge of its own: dnsmasq assigns addresses, avahi-daemon is
`homeassistant.local`, Mosquitto requires a user and a password. The machine with the card has a tap
device on the bridge, so multicast works as on a real network. Nothing reaches the internet.
"""

from __future__ import annotations

import json
import socket
import subprocess
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lab.bench.mosquitto import BrokerObserver, Mosquitto

BRIDGE, TAP = "interlude-home", "interlude-tap"
ADDRESS = "10.213.40.1"
USER, PASSWORD = "interlude", "four words of it"
_RUN = "/run/avahi-daemon"

_AVAHI = f"""[server]
host-name=homeassistant
domain-name=local
use-ipv6=no
enable-dbus=no
allow-interfaces={BRIDGE}
[publish]
publish-workstation=no
publish-hinfo=no
"""


@dataclass
class House:
    """`folder`: for configuration and logs."""

    folder: Path
    _avahi: int = field(default=0, init=False)
    _ends: ExitStack = field(default_factory=ExitStack, init=False)
    _ear: BrokerObserver | None = field(default=None, init=False)

    def __enter__(self) -> House:
        try:
            self._start()
        except BaseException:
            self._ends.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._ends.close()

    @property
    def ear(self) -> BrokerObserver:
        """An MQTT client that is subscribed to every topic."""
        assert self._ear is not None
        return self._ear

    def _start(self) -> None:
        Path(_RUN).mkdir(exist_ok=True)
        self._ends.callback(_ip, "link", "del", BRIDGE, check=False)
        self._ends.callback(_ip, "link", "del", TAP, check=False)
        _ip("link", "add", BRIDGE, "type", "bridge")
        _ip("addr", "add", f"{ADDRESS}/24", "dev", BRIDGE)
        _ip("tuntap", "add", TAP, "mode", "tap")
        for device in (TAP, BRIDGE):
            if device == TAP:
                _ip("link", "set", TAP, "master", BRIDGE)
            _ip("link", "set", device, "up")
        net = ADDRESS.rpartition(".")[0]
        self._run("dnsmasq", "--keep-in-foreground", "--port=0", "--conf-file=/dev/null",
                  f"--interface={BRIDGE}", "--bind-interfaces", "--except-interface=lo",
                  f"--dhcp-range={net}.100,{net}.150,12h", f"--dhcp-option=3,{ADDRESS}",
                  f"--dhcp-leasefile={self.folder}/leases", "--user=root")  # fmt: skip
        config = self.folder / "avahi.conf"
        config.write_text(_AVAHI)
        # With a private /run, since this machine may run an avahi-daemon, too.
        self._avahi = self._run(
            "unshare", "-m", "sh", "-c", f"mount -t tmpfs tmpfs {_RUN} && exec avahi-daemon"
            f" --file={config} --no-drop-root --no-chroot --no-rlimits",
        )  # fmt: skip
        secrets = self.folder / "passwords"
        subprocess.run(["mosquitto_passwd", "-c", "-b", secrets, USER, PASSWORD],
                       check=True, capture_output=True)  # fmt: skip
        options = (f"listener 1883 {ADDRESS}", "allow_anonymous false", f"password_file {secrets}")
        broker = self._ends.enter_context(Mosquitto(self.folder, options=options))
        self._ear = self._ends.enter_context(
            BrokerObserver(broker.port, user=USER, password=PASSWORD)
        )

    def _run(self, *command: str) -> int:
        """Start a program that runs until the context is left. Returns its process id."""
        log = self._ends.enter_context((self.folder / f"{command[0]}.log").open("ab"))
        process = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", *command],
                                   stdin=subprocess.DEVNULL, stdout=log, stderr=log)  # fmt: skip
        self._ends.callback(process.wait)
        self._ends.callback(process.terminate)
        return process.pid

    def address_of(self, name: str, limit_s: float) -> str:
        """Resolve `name` (such as kitchen.local) by multicast DNS. Raises TimeoutError."""
        limit = time.monotonic() + limit_s
        while time.monotonic() < limit:
            if address := self._ask_avahi(name):
                return address
            time.sleep(1.0)
        raise TimeoutError(f"nobody answers for {name}")

    def _ask_avahi(self, name: str) -> str:
        """Query avahi-daemon by its simple protocol, as nss-mdns does; "" if there is no answer."""
        with socket.socket(socket.AF_UNIX) as door:
            door.settimeout(10.0)
            try:
                door.connect(f"/proc/{self._avahi}/root{_RUN}/socket")
                door.sendall(f"RESOLVE-HOSTNAME-IPV4 {name}\n".encode())
                said = door.recv(1024).decode().split()
            except OSError:
                return ""
        return said[4] if said and said[0] == "+" else ""

    def entities(self) -> dict[str, dict[str, Any]]:
        """The entities that the box has announced to Home Assistant, by the component's key."""
        found: dict[str, dict[str, Any]] = {}
        for heard in self.ear.heard:
            parts = heard.topic.split("/")
            if parts[0] == "homeassistant" and parts[-1] == "config" and heard.payload:
                said = json.loads(heard.payload)
                found |= said.get("cmps") or said.get("components") or {heard.topic: said}
        return found


def _ip(*words: str, check: bool = True) -> None:
    done = subprocess.run(["ip", *words], capture_output=True, text=True, check=False)
    if check and done.returncode:
        raise RuntimeError(f"ip {' '.join(words)}: {done.stderr.strip()}")
