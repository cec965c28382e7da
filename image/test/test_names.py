"""Names that end in .local, in both directions: a box set up by the playbook, and the house's
machine, each with avahi, in one network. The link finds its broker by `homeassistant.local`.

The house's machine is plain Debian, with avahi as Debian configures it; its broker is Mosquitto.
"""

from __future__ import annotations

import json
import re
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from image.test import real
from image.test.boxes import Box
from image.test.fleet import PATIENCE_S, scratch, started

pytestmark = pytest.mark.timeout(1200)

HOUSE = "homeassistant"
ID = "named"
VERSION = "9.0.0"
EXPOSURE = re.compile(r"exposure level for avahi-daemon.service: ([\d.]+)")


@dataclass
class Home:
    """A box of ours, the house's machine, and the log of the house's broker."""

    box: Box
    house: Box
    broker: Path


@pytest.fixture(scope="module")
def home() -> Iterator[Home]:
    with scratch() as folder, started(folder, 2) as made:
        box, house = made.boxes
        (release,) = real.releases(folder, made.key, (VERSION,))
        house.ssh(f"hostname {HOUSE}; systemctl restart avahi-daemon")
        log = folder / "broker.log"
        (folder / "broker.conf").write_text(
            "listener 1883 0.0.0.0\nallow_anonymous true\nlog_type all\nuser root\n"
        )
        with log.open("wb") as into:
            broker = subprocess.Popen(
                ["ip", "netns", "exec", house.place, "mosquitto", "-c", folder / "broker.conf"],
                stdin=subprocess.DEVNULL, stdout=into, stderr=into,
            )  # fmt: skip
        try:
            with real.sound_card(box.root):
                settings = {**real.SETTINGS, "link": {"broker": f"{HOUSE}.local", "id": ID}}
                words = {"interlude_release_file": str(release), "interlude_settings": settings}
                played = made.play(
                    "site.yml", "--skip-tags", "packages", "--limit", box.name,
                    "-e", json.dumps(words),
                )  # fmt: skip
                assert played.code == 0, played.said[-3000:]
                yield Home(box, house, log)
        finally:
            broker.terminate()
            broker.wait()


def comes(true: Callable[[], bool]) -> bool:
    limit_s = time.monotonic() + PATIENCE_S
    while not true():
        if time.monotonic() > limit_s:
            return False
        time.sleep(0.2)
    return True


def names_itself(box: Box) -> str:
    """The name in the process title of avahi-daemon."""
    said = re.search(r"running \[(\S+)\]", box.ssh("ps -eo args").stdout)
    return said[1] if said else ""


def test_the_link_reaches_its_broker_by_name(home: Home) -> None:
    topics = (f"'interlude/{ID}/availability'", f"'homeassistant/device/interlude_{ID}/config'")
    assert comes(lambda: all(topic in home.broker.read_text() for topic in topics))
    said = home.broker.read_text()
    assert f"New client connected from {home.box.address}:" in said


def test_a_name_that_nobody_has_is_not_found(home: Home) -> None:
    assert home.box.ssh("getent hosts nobody.local").returncode == 2


def test_the_box_is_found_by_its_name_and_lets_itself_be_reached(home: Home) -> None:
    name = f"{home.box.name}.local"
    assert home.house.ssh(f"getent hosts {name}").stdout.split() == [home.box.address, name]
    keys = home.house.ssh(f"ssh-keyscan -t ed25519 {name} 2>/dev/null").stdout
    own = (home.box.root / "etc/ssh/ssh_host_ed25519_key.pub").read_text().split()[1]
    assert own in keys


def test_nothing_listens_but_ssh_mdns_and_the_page(home: Home) -> None:
    rows = home.box.ssh("ss -Hltn; ss -Hlun").stdout.splitlines()
    ports = {(row.split()[0], row.split()[3].rpartition(":")[2]) for row in rows}
    assert ports == {("LISTEN", "22"), ("LISTEN", "80"), ("UNCONN", "5353")}


def test_what_answers_has_no_rights_and_no_bus(home: Home) -> None:
    box = home.box
    pid = box.ssh("systemctl show -P MainPID avahi-daemon").stdout.strip()
    assert box.ssh(f"ps -o user= -p {pid}").stdout == "avahi\n"
    status = box.ssh(f"grep -E '^(CapEff|CapBnd|NoNewPrivs|Seccomp):' /proc/{pid}/status").stdout
    assert [int(row.split()[1], 16) for row in status.splitlines()] == [0, 0, 1, 2]
    level = EXPOSURE.search(box.ssh("systemd-analyze security --no-pager avahi-daemon").stdout)
    assert level
    assert float(level[1]) <= 2.0
    assert "org.freedesktop.Avahi" not in box.ssh("busctl list --acquired --no-legend").stdout


def test_after_a_restart_it_answers_again(home: Home) -> None:
    name = f"{home.box.name}.local"
    home.box.ssh("systemctl restart avahi-daemon")
    assert comes(lambda: home.house.ssh(f"getent hosts {name}").returncode == 0)


def test_of_two_with_one_name_the_later_one_takes_another(home: Home) -> None:
    """In both orders: our box starts later, then the house's machine does."""
    first, own = home.house, f"{home.box.name}.local"
    assert comes(lambda: names_itself(home.box) == own)  # avahi's probing for conflicts is over
    first.ssh(f"hostname {home.box.name}; systemctl restart avahi-daemon")
    assert comes(lambda: names_itself(first) == f"{home.box.name}-2.local")
    home.box.ssh("systemctl stop avahi-daemon.socket avahi-daemon.service")
    first.ssh("systemctl restart avahi-daemon")
    assert comes(lambda: names_itself(first) == own)
    home.box.ssh("systemctl start avahi-daemon.socket avahi-daemon.service")
    assert comes(lambda: names_itself(home.box) == f"{home.box.name}-2.local")
