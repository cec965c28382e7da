"""Systems for a fleet, by Ansible: boxes with two slots, started by a stand-in for the firmware.

The playbook, the box's own code, its units and systemd are real; what is not is said in pis.py.
Each test says what it did to the fleet and how long that took. They build on each other.
"""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest

from image.test.fleet import PATIENCE_S, Fleet, Played, full_disk, scratch, started
from image.test.pis import KIND, Pi
from tests.update.system.workshop import Foundry, foundry

pytestmark = pytest.mark.timeout(1800)  # a playbook has a limit of its own, and says what it did
SPEAKS = "grep -q speaking /run/interlude/status.json"


@pytest.fixture(scope="module")
def systems(tmp_path_factory: pytest.TempPathFactory) -> Foundry:
    return foundry(tmp_path_factory.mktemp("systems"))


@pytest.fixture(scope="module")
def fleet(systems: Foundry) -> Iterator[Fleet]:
    """Two boxes that run the system 1.0.0 from slot a, with a release that does well on it."""
    first = systems.make("1.0.0")

    def pi(name: str, number: int, lower: Path, folder: Path, key: Path) -> Pi:
        return Pi(name, number, lower, folder, key, first=first)

    with scratch() as folder, started(folder, 2, pi, (systems.shop.key,)) as made:
        release = made.release("0.1.0")
        played = made.play(
            "site.yml", "--skip-tags", "packages", "-e", f"interlude_release_file={release}"
        )
        assert played.code == 0, played.said[-3000:]
        yield made


def pis(fleet: Fleet) -> list[Pi]:
    return [cast("Pi", box) for box in fleet.boxes]


def update(fleet: Fleet, file: Path, *words: str) -> Played:
    return fleet.play("update.yml", "-e", f"interlude_system_file={file}", *words)


def said(box: Pi) -> dict[str, str | None]:
    found: dict[str, str | None] = json.loads(box.ssh("interlude system status --json").stdout)
    return found


def running(fleet: Fleet) -> list[str]:
    """The version and the slot that each box runs, for good: what a power cut would start."""
    return [f"{now['version']} from {now['slot']}" for now in map(said, pis(fleet))]


def test_a_good_system_reaches_every_box(fleet: Fleet, systems: Foundry) -> None:
    assert running(fleet) == ["1.0.0 from a"] * 2
    file = systems.make("1.1.0").archive
    played = update(fleet, file)
    assert played.code == 0, played.said[-3000:]
    assert running(fleet) == ["1.1.0 from b"] * 2
    again = update(fleet, file)
    assert (again.code, again.changed()) == (0, {"box1": 0, "box2": 0})
    for box in pis(fleet):
        assert box.ssh("systemctl --failed --no-legend").stdout == ""


@pytest.mark.parametrize(
    ("version", "kind", "why"),
    [
        ("1.2.0", "failing", "speaker failed again and again"),
        ("1.2.1", "crashes", "failed its health check"),
    ],
)
def test_a_failing_system_stops_at_the_first_box_and_is_left(
    fleet: Fleet, systems: Foundry, version: str, kind: str, why: str
) -> None:
    first = pis(fleet)[0]
    first.kinds[version] = kind
    played = update(fleet, systems.make(version).archive)
    assert played.code != 0
    assert why in played.said
    assert played.touched() == {"box1"}
    assert first.starts[-2:] == [version, "1.1.0"]
    assert running(fleet) == ["1.1.0 from b"] * 2


def test_a_strangers_signature_is_refused(fleet: Fleet, systems: Foundry) -> None:
    played = update(fleet, systems.make("1.3.0", key="stranger").archive)
    assert played.code != 0
    assert "not signed with a key" in played.said
    assert running(fleet) == ["1.1.0 from b"] * 2


def test_an_older_system_is_refused(fleet: Fleet, systems: Foundry) -> None:
    played = update(fleet, systems.make("1.0.5").archive)
    assert played.code != 0
    assert "older than 1.1.0" in played.said
    assert running(fleet) == ["1.1.0 from b"] * 2


def test_a_full_disk_is_said_before_anything_is_written(fleet: Fleet, systems: Foundry) -> None:
    file = systems.make("1.3.1").archive
    with full_disk(fleet.boxes[0]):
        played = update(fleet, file)
    assert played.code != 0
    assert "MiB are needed" in played.said
    assert "slot : Copy it to the box]" not in played.said
    assert running(fleet) == ["1.1.0 from b"] * 2


def test_a_conversation_is_not_interrupted(fleet: Fleet, systems: Foundry) -> None:
    box = pis(fleet)[0]
    box.ssh(f"touch /var/lib/interlude/talks; until {SPEAKS}; do sleep 0.1; done")
    starts = len(box.starts)
    played = update(fleet, systems.make("1.4.0").archive, "-e", "interlude_wait_s=5")
    assert played.code != 0
    assert "A conversation is under way" in played.said
    assert len(box.starts) == starts
    box.ssh(f"rm /var/lib/interlude/talks; while {SPEAKS}; do sleep 0.1; done")
    assert running(fleet) == ["1.1.0 from b"] * 2


def test_power_that_goes_in_the_middle_of_a_trial_leaves_the_old_system(
    fleet: Fleet, systems: Foundry
) -> None:
    box = pis(fleet)[1]
    box.kinds["1.5.0"] = "hangs"
    archive = box.root / "opt/interlude/incoming/x.system"
    archive.write_bytes(systems.make("1.5.0").archive.read_bytes())
    box.ssh("interlude system install /opt/interlude/incoming/x.system")
    limit = time.monotonic() + PATIENCE_S
    while box.starts[-1] != "1.5.0" or box.ssh("true").returncode:
        assert time.monotonic() < limit, box.starts
        time.sleep(0.2)
    box.cut_power()
    box.boot()
    wait_for_the_end_of_the_trial(box)
    assert running(fleet) == ["1.1.0 from b"] * 2
    assert said(box)["problem"]


def test_the_next_system_goes_into_the_first_slot_and_a_release_with_it(
    fleet: Fleet, systems: Foundry
) -> None:
    release = fleet.release("0.2.0")
    played = update(fleet, systems.make("1.6.0").archive, "-e", f"interlude_release_file={release}")
    assert played.code == 0, played.said[-3000:]
    assert running(fleet) == ["1.6.0 from a"] * 2
    assert fleet.kept() == ["0.2.0"] * 2


def test_a_box_goes_back_when_it_is_told_to(fleet: Fleet) -> None:
    box = pis(fleet)[0]
    box.ssh("interlude system rollback")
    limit = time.monotonic() + PATIENCE_S
    while box.starts[-1] != "1.1.0":
        assert time.monotonic() < limit, box.starts
        time.sleep(0.2)
    wait_for_the_end_of_the_trial(box)
    assert running(fleet) == ["1.1.0 from b", "1.6.0 from a"]


def test_a_system_on_which_no_release_stays_up_is_left_for_the_one_before(fleet: Fleet) -> None:
    """It was kept, and fails later: as on a card that wears out."""
    box = pis(fleet)[1]
    box.kinds["1.6.0"] = "crashes"
    (box.root / KIND).write_text("crashes")
    began = time.monotonic()
    box.ssh("systemctl --no-block restart interlude")
    while box.starts[-1] != "1.1.0":
        assert time.monotonic() < began + 2 * PATIENCE_S, box.starts
        time.sleep(0.5)
    wait_for_the_end_of_the_trial(box)
    print(f"from a system on which nothing stays up to the other: {time.monotonic() - began:.0f} s")
    assert running(fleet) == ["1.1.0 from b"] * 2
    told = json.loads(box.ssh("interlude status --json").stdout)
    assert (told["well"], told["version"]) == (True, "0.2.0")
    assert "I went back from the system 1.6.0 to the system 1.1.0." in told["fell_back"]


SEED = """\
hostname: kitchen
mode: wake_word
wifi:
  name: 'Café: upstairs'
  password: 0123456789
ssh_keys: {key}
"""


def test_what_an_owner_writes_on_the_card_is_used_and_wiped(fleet: Fleet) -> None:
    box = pis(fleet)[0]
    box.cut_power()
    text = SEED.format(key=box.key.with_suffix(".pub").read_text().strip())
    seed(box, text.replace("\n", "\r\n").encode())
    box.boot()
    assert box.ssh("cat /etc/hostname").stdout == "kitchen\n"
    assert "mode: wake_word" in box.ssh("cat /etc/interlude/settings.yaml").stdout
    networks = "/etc/NetworkManager/system-connections/interlude-wifi.nmconnection"
    network = box.ssh(f"stat -c %a {networks}; cat {networks}").stdout.splitlines()
    assert network[0] == "600"
    assert f"ssid={';'.join(map(str, 'Café: upstairs'.encode()))};" in network
    assert "psk=0123456789" in network
    card = (box.card / "bootconfig").read_bytes()
    assert b"0123456789" not in card
    assert b"boot_partition" in card


def test_what_cannot_be_used_of_it_is_said_and_stays(fleet: Fleet) -> None:
    box = pis(fleet)[0]
    box.cut_power()
    seed(box, b"hostname: my kitchen\nmode: open\n")
    box.boot()
    assert box.ssh("cat /etc/hostname").stdout == "kitchen\n"
    assert "mode: wake_word" in box.ssh("cat /etc/interlude/settings.yaml").stdout
    warned = box.ssh("journalctl -u interlude-begin -p warning -o cat").stdout
    assert "`my kitchen` is not a host name. Use letters, digits and hyphens" in warned
    assert b"my kitchen" in (box.card / "bootconfig").read_bytes()


def seed(box: Pi, data: bytes) -> None:
    """As an owner does, whose computer shows the card's first partition."""
    file = box.scratch / "interlude.yaml"
    file.write_bytes(data)
    subprocess.run(["mcopy", "-o", "-i", box.card / "bootconfig", file, "::"], check=True)


def wait_for_the_end_of_the_trial(box: Pi) -> None:
    limit = time.monotonic() + PATIENCE_S
    while '"trial": null' not in box.ssh("interlude system status --json").stdout:
        assert time.monotonic() < limit, box.ssh("systemctl status interlude*").stdout
        time.sleep(0.5)
