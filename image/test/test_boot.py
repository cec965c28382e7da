"""The card is booted in QEMU until it listens, inspected from inside, and talked to.

It is not a Pi: see emulator.py, also for the meaning of its seconds.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from appliance import __version__
from appliance.runtime.process_table import PROCESSES
from image import layout
from image.test import plugged
from image.test.emulator import Card, Machine
from image.test.prepared import HARDWARE, SOUND_CARD, prepared
from lab.sim.speech_source import SPEECH_DB, at_level, spoken

pytestmark = pytest.mark.timeout(3600)  # emulated, on a machine of unknown speed
LIGHT_LIMIT_S = 4.0  # guest time: most of it is Python's start on an emulated core
LISTENING_LIMIT_S = 3000.0  # host time
TALK_LIMIT_S = 3000.0

WORDS = {
    "question": "tell me about the sea",
    "change of mind": "wait, tell me about the moon instead",
}
# Scheduling class, cores, locked memory and capabilities of each process of the box, by its title.
GRANTED = r"""for each in /proc/[0-9]*; do
  title=$(tr '\0' ' ' <"$each/cmdline") 2>/dev/null
  case $title in "interlude: "*)
    echo "Title: ${title#interlude: }"
    echo "Class: $(ps -o cls=,rtprio= -p "${each#/proc/}")"
    grep -E '^(VmLck|Cpus_allowed_list|CapEff|NoNewPrivs|Seccomp):' "$each/status" ;;
  esac
done; true"""
TALK = Path(__file__).with_name("talk.py")
# The files that root's set-up writes for its page and for apps once its Wi-Fi is open; here on
# `lo`, since this machine has no radio (test_air.py has).
OPENS = """ip address add 10.42.0.1/24 dev lo && cd /run/interlude-setup &&
echo '{"setup":"Interlude 1234"}' >/run/interlude-network/network.json &&
echo '{"address":"10.42.0.1"}' >.open && mv .open open"""
CLOSES = "rm /run/interlude-setup/open && echo '{}' >/run/interlude-network/network.json"
ASKED = """python3 -c 'import urllib.request
print(urllib.request.urlopen("http://10.42.0.1/", timeout=60).read().decode())'"""


@dataclass
class Started:
    """A card, the machine that runs it, and the checksum of the card's system before the start."""

    card: Card
    machine: Machine
    system_before: str


@pytest.fixture(scope="module")
def started(built: Path, door: Path, image_scratch: Path) -> Iterator[Started]:
    card = prepared(built, image_scratch, door)
    machine = Machine(card, image_scratch, door, header=True, words=HARDWARE)
    before = system_sum(card)
    machine.start()
    try:
        print(f"\n   lets us in after {machine.wait_for('true'):.0f} s")
        yield Started(card, machine, before)
    finally:
        machine.cut_power()
        shutil.copy(image_scratch / "console.log", image_scratch.parent / "console.log")


def words() -> str:
    """The owner's speech as JSON, made by espeak-ng here, since the release does not contain it."""
    said = {}
    for which, text in WORDS.items():
        sound = at_level(spoken(text, "en-us", 165, 50), SPEECH_DB)
        said[which] = [base64.b64encode(sound.samples.tobytes()).decode(), sound.onset, sound.end]
    return json.dumps(said)


def converse(machine: Machine) -> dict[str, Any]:
    """Run talk.py in the machine and return what it measured of the conversation."""
    machine.leave("/run/talk.py", TALK.read_text())
    machine.leave("/run/words.json", words())
    command = f"python3 /run/talk.py /opt/interlude/current/lib /run/words.json {SOUND_CARD}"
    said = machine.ssh(command, TALK_LIMIT_S)
    assert said.returncode == 0, said.stderr
    heard: dict[str, Any] = json.loads(said.stdout)
    return heard


def system_sum(card: Card) -> str:
    """SHA-256 of the partition system_a on the card."""
    digest = hashlib.sha256()
    with card.image.open("rb") as file:
        file.seek(card.places()["system_a"])
        for _ in range(layout.LAYOUT[layout.number("system_a") - 1].mib // 4):
            digest.update(file.read(4 << 20))
    return digest.hexdigest()


def test_the_card_starts_to_listening(started: Started) -> None:
    machine = started.machine
    listening = "grep -q '\"ready\":true' /run/interlude/status.json"
    print(f"\n   listening after {machine.wait_for(listening, LISTENING_LIMIT_S):.0f} s")
    status = machine.status()
    assert status["healthy"] is True
    assert status["failed"] == []
    assert status["version"] == __version__


def test_it_listens_within_twenty_seconds_of_its_own(started: Started) -> None:
    """Counted from the end of the initramfs, on four cores of 2e9 instructions a second each."""
    machine = started.machine
    print(f"\n   {machine.tell('systemd-analyze time')}")
    begun = int(machine.tell("systemctl show -P UserspaceTimestampMonotonic"))
    ready = int(machine.tell("systemctl show -P ActiveEnterTimestampMonotonic interlude"))
    print(f"   listening {(ready - begun) / 1e6:.1f} s after systemd's start")
    assert 0 < ready - begun < 20e6


def test_no_unit_failed_and_no_order_went_in_a_circle(started: Started) -> None:
    assert started.machine.tell("systemctl --failed --no-legend --plain") == ""
    assert "ordering cycle" not in started.machine.tell("journalctl -b -o cat").lower()


def test_the_kernel_is_as_it_was_built(started: Started) -> None:
    assert started.machine.tell("cat /proc/sys/kernel/tainted") == "0"


def test_the_root_is_read_only_below_and_memory_above(started: Started) -> None:
    machine = started.machine
    assert machine.tell("stat -f -c %T /").startswith("overlay")
    assert machine.tell("stat -f -c %T /data") == "ext2/ext3"
    assert machine.tell("cat /run/interlude-start/slot /run/interlude-start/data") == "a\nok"
    machine.tell("touch /usr/bin/made-by-a-test && rm /usr/bin/interlude-nothing 2>/dev/null; sync")
    assert system_sum(started.card) == started.system_before


@pytest.mark.parametrize(
    "path",
    [
        "/opt/interlude",
        "/etc/interlude",
        "/var/lib/interlude",
        "/var/log/interlude",
        "/var/lib/interlude-incoming",
        "/var/lib/interlude-models",
        "/var/lib/interlude-wishes",
    ],
)
def test_what_outlives_a_slot_lies_on_data(started: Started, path: str) -> None:
    machine = started.machine
    assert machine.tell(f"stat -c %d {path}") == machine.tell("stat -c %d /data")


def test_no_file_of_data_gives_rights_or_is_a_device(started: Started) -> None:
    rows = started.machine.tell("findmnt -rno TARGET,OPTIONS -S $(findmnt -no SOURCE /data)")
    assert len(rows.splitlines()) > 4
    for row in rows.splitlines():
        assert {"nosuid", "nodev"} <= set(row.split()[1].split(",")), row


def test_nothing_listens_but_ssh_mdns_and_the_page(started: Started) -> None:
    rows = [row.split() for row in started.machine.tell("ss -Hltn; ss -Hlun").splitlines()]
    ports = {(row[0], row[3].rpartition(":")[2]) for row in rows}
    ports -= {("UNCONN", "68")}  # the DHCP client
    assert ports == {("LISTEN", "22"), ("LISTEN", "80"), ("UNCONN", "5353")}


def test_the_box_has_the_name_of_its_card_and_finds_itself_by_it(started: Started) -> None:
    said = started.machine.tell("getent hosts interlude.local")
    assert said.split()[1:] == ["interlude.local"]
    owner = "ps -o user= -p $(systemctl show -P MainPID avahi-daemon.service)"
    assert started.machine.tell(owner) == "avahi"


def test_nobody_comes_in_with_a_password(started: Started) -> None:
    machine = started.machine
    doors = machine.tell("sshd -T | grep -iE '^(passwordauthentication|permitrootlogin)'")
    assert "passwordauthentication no" in doors.lower()
    locked = machine.tell("cut -d: -f2 /etc/shadow | sort -u").split()
    assert all(word[0] in "!*" for word in locked)


def test_users_and_modes_are_as_designed(started: Started) -> None:
    said = started.machine.tell(
        "stat -c '%U:%G %a %n' /etc/interlude/secrets /var/lib/interlude /opt/interlude"
        " /opt/interlude/current/ /var/log/interlude /var/lib/interlude-incoming"
        " /var/lib/interlude-models /var/lib/interlude-models/.fetch"
        " /var/lib/interlude-wishes /run/interlude-page"
        " /run/interlude-wanted /run/interlude-changed"
    ).splitlines()
    assert said == [
        "root:root 700 /etc/interlude/secrets",
        "interlude:interlude 750 /var/lib/interlude",
        "root:root 755 /opt/interlude",
        "root:root 755 /opt/interlude/current/",
        "interlude-log:interlude-log 750 /var/log/interlude",
        "root:interlude-incoming 1770 /var/lib/interlude-incoming",
        "root:root 755 /var/lib/interlude-models",
        "interlude-model:interlude 2750 /var/lib/interlude-models/.fetch",
        "root:interlude 1770 /var/lib/interlude-wishes",
        "interlude-setup:interlude-setup 700 /run/interlude-page",
        "root:interlude 1770 /run/interlude-wanted",
        "root:root 755 /run/interlude-changed",
    ]
    groups = started.machine.tell("id -nG interlude").split()
    assert set(groups) == {"interlude", "audio", "gpio", "interlude-incoming"}
    owner = "ps -o user= -p $(systemctl show -P MainPID interlude.service)"
    assert started.machine.tell(owner) == "interlude"


def test_each_part_has_what_the_table_says_and_no_rights(started: Started) -> None:
    parts: dict[str, dict[str, str]] = {}
    for line in started.machine.tell(GRANTED).splitlines():
        key, _, value = line.partition(":")
        if key == "Title":
            of = parts[value.strip()] = {}
        else:
            of[key] = " ".join(value.split())
    print(f"\n   {parts}")
    assert {"supervisor", "capture", "playback", "listener", "thinker", "panel"} <= parts.keys()
    for of in parts.values():
        assert (int(of["CapEff"], 16), of["NoNewPrivs"], of["Seccomp"]) == (0, "1", "2")
    for row in PROCESSES:
        if (found := parts.get(row.name)) is not None:
            urgent = f"FF {row.priority}" if row.scheduling == "fifo" else "TS -"
            assert found["Class"] == urgent, row.name
            assert found["Cpus_allowed_list"] == _ranges(row.cores), row.name
            assert (found["VmLck"] != "0 kB") == row.lock_memory, row.name


def _ranges(cores: tuple[int, ...]) -> str:
    """In the kernel's notation; the cores of a row are consecutive."""
    return str(cores[0]) if len(cores) == 1 else f"{cores[0]}-{cores[-1]}"


def test_the_watchdog_of_the_machine_is_fed(started: Started) -> None:
    machine = started.machine
    machine.tell("test -c /dev/watchdog0")
    assert machine.tell("systemctl show -P RuntimeWatchdogUSec") == "14s"
    # Both names are the same device; systemd uses the first that exists.
    device = machine.tell("systemctl show -P WatchdogDevice")
    assert device in ("/dev/watchdog0", "/dev/watchdog")


def test_the_box_has_a_name_of_its_own(started: Started) -> None:
    name = started.machine.tell("cat /etc/machine-id")
    assert re.fullmatch(r"[0-9a-f]{32}", name)
    assert started.machine.tell("cat /data/keep/etc/machine-id") == name


def test_it_says_what_it_is(started: Started) -> None:
    said = started.machine.tell("cat /etc/os-release")
    assert "IMAGE_ID=interlude" in said
    assert f'IMAGE_VERSION="{__version__}"' in said


def test_the_light_answers_the_box(started: Started) -> None:
    """The box has requested the red line of the simulated header as an output."""
    chip = started.machine.tell("gpiodetect | grep pinctrl-rp1").split()[0]
    said = started.machine.tell(f"gpioinfo -c {chip} 22")
    line = next(row for row in said.splitlines() if re.search(r"\b22\b", row))
    assert "output" in line
    assert "interlude" in line


def test_the_light_breathes_before_the_box_has_begun(started: Started) -> None:
    """The light is on from the start of the system, however long model and network take."""
    lit_s, box_s, ready_s = plugged.began_s(started.machine)
    print(f"\n   after systemd's start: the light at {lit_s:.1f} s, the box's first process at "
          f"{box_s:.1f} s, listening at {ready_s:.1f} s")  # fmt: skip
    assert 0 < lit_s < LIGHT_LIMIT_S
    assert lit_s < box_s
    left = started.machine.tell("systemctl show -P Result -P ActiveState interlude-light")
    assert set(left.split()) == {"success", "inactive"}


def test_what_is_plugged_in_was_found_and_not_named(started: Started) -> None:
    machine = started.machine
    assert "panel" not in machine.tell("cat /etc/interlude/settings.yaml | grep -v '^#' | cat")
    log = machine.tell("journalctl -b -u interlude -o cat")
    for way in ("capture", "playback"):
        assert f"{way} on plughw:CARD={SOUND_CARD} at 16000 Hz" in log
    assert "pinctrl-rp1" in machine.tell("cat /run/interlude/panel/panel.json")


@pytest.fixture(scope="module")
def talk(started: Started) -> dict[str, Any]:
    """What talk.py measured of one conversation."""
    heard = converse(started.machine)
    print(f"\n   a conversation of {heard['seconds']:.0f} s in there: {heard['took']}, "
          f"{heard['dropouts']} dropouts")  # fmt: skip
    print(f"   {heard['states']}")
    assert not heard["problem"], f"{heard['problem']}: {heard}"
    return heard


def test_a_question_is_answered(talk: dict[str, Any]) -> None:
    assert 0 < talk["took"]["question to answer"] < 10


def test_it_stops_talking_when_the_owner_starts(talk: dict[str, Any]) -> None:
    """A full second of the guest's clock would be a failure of the product."""
    assert talk["took"]["change of mind to silence"] < 1.0
    states = [state for _, state in talk["states"]]
    # The state is read every 50 ms, so "thinking" may be missed after a speculative prefill.
    after = [state for state in states[states.index("speaking") :] if state != "thinking"]
    assert "listening" in after, "it went on with its first answer"
    assert "speaking" in after[after.index("listening") :]


def test_the_button_ends_an_answer(talk: dict[str, Any]) -> None:
    """A press on the simulated GPIO line; 30 ms of the time are the button's debounce."""
    assert talk["took"]["button to silence"] < 0.5
    assert talk["states"][-1][1] == "idle"


def test_the_light_shows_what_it_does(talk: dict[str, Any]) -> None:
    """Blue is on while it speaks, green while it listens; both are read from the GPIO lines."""
    assert any(row.startswith("speaking:") and "blue" in row for row in talk["lit"])
    assert any(row.startswith("listening:") and "green" in row for row in talk["lit"])
    assert not any("muted" in row for row in talk["lit"])


def test_a_card_that_is_pulled_out_is_in_the_light_and_found_again(
    started: Started, talk: dict[str, Any]
) -> None:
    machine = started.machine
    with plugged.pulled_out(machine):
        machine.wait_for(plugged.STATE.format("failed"))
        assert plugged.colours(machine) == {"000", "100"}  # red, blinking
    machine.wait_for(plugged.STATE.format("idle"))
    log = machine.tell("journalctl -b -u interlude -o cat")
    assert "There is no sound card." in log
    for way in ("capture", "playback"):
        assert re.search(rf"{way} on plughw:CARD={SOUND_CARD}.*, found again", log)


def test_while_there_is_set_up_its_page_has_the_port_and_bluetooth_is_wanted(
    started: Started,
) -> None:
    """This machine has no Bluetooth, which must not make a unit fail."""
    machine = started.machine
    parts = "interlude-page.service interlude-improv.service"
    try:
        machine.tell(OPENS)
        machine.wait_for(f"{ASKED} | grep -q 'Set up this box'")
        machine.wait_for("journalctl -b -u interlude-improv -o cat | grep 'no set-up by Bluetooth'")
        assert machine.tell(f"systemctl is-active {parts}").split() == ["active", "active"]
        assert machine.ssh("systemctl is-active bluetooth.service").stdout == "inactive\n"
    finally:
        machine.tell(CLOSES)
    machine.wait_for(f"{ASKED} | grep -q /pair/button")
    machine.wait_for(f"! systemctl is-active -q {parts}")
    assert machine.tell("systemctl --failed --no-legend --plain") == ""


def test_bluetooth_is_for_set_up_alone_and_has_what_the_pis_radio_needs(started: Started) -> None:
    machine = started.machine
    assert machine.ssh("systemctl is-enabled bluetooth.service").stdout == "disabled\n"
    assert "--noplugin=*" in machine.tell("systemctl show -P ExecStart bluetooth.service")
    assert machine.tell("systemctl show -P StopWhenUnneeded bluetooth.service") == "yes"
    machine.tell("test -s /usr/lib/firmware/brcm/BCM4345C0.hcd && modinfo -n hci_uart btbcm")
    assert "org.bluez" not in machine.tell("busctl list --acquired --no-legend")
