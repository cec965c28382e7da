"""An owner's first hour with a card as `make image` builds it: a seed, the house, a USB stick, the
button, speech, a restart.

The seed file is the only change to the card. The emulated machine provides the other hardware: pins
with the Pi's label in its device tree, the kernel's snd-aloop under the name of a real sound card,
a network with DHCP, mDNS and a broker (house.py), a USB stick. The test logs in by host name with
the owner's ssh key from the seed, and writes its own programs to /run.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from appliance import __version__
from appliance.models import catalogue
from appliance.update.system.slot import CONFIG
from image import disk
from image.test.emulator import Card, Machine
from image.test.house import ADDRESS, PASSWORD, TAP, USER, House
from image.test.prepared import HARDWARE, SOUND_CARD
from image.test.test_boot import converse
from image.test.visitor import Visitor, announced

pytestmark = pytest.mark.timeout(7200)  # two starts, emulated
LIMIT_S = 3000.0  # host time, for each step
READY = "grep -q '\"ready\":true' /run/interlude/status.json"
MODEL = "mine"
PAGES = ("/", "/set", "/set/network", "/try", "/own", "/own/timers", "/own/memory", "/own/models",
         "/own/software", "/own/backup", "/own/report", "/access")  # fmt: skip
PAGE_MIB = 45.0  # limit of the page's PSS (docs/page.md)
MOST_EXPOSURE = 2.0  # as in tests/system/test_units.py
# Units are named, since without names systemd-analyze lists only loaded ones.
EXPOSURE = """cd /usr/lib/systemd/system && ours=$(ls interlude*.service | grep -v @) &&
systemd-analyze security --no-pager $ours | grep 'Overall exposure'"""
# Resident memory and proportional set size (PSS) of each part by its title, in KiB.
MEMORY = r"""for each in /proc/[0-9]*; do
  title=$(tr '\0' ' ' <"$each/cmdline") 2>/dev/null
  case $title in "interlude: "*)
    title=${title#interlude: }
    echo "${title%% *}: $(awk '/^(Rss|Pss):/ {printf "%s ", $2}' "$each/smaps_rollup")" ;;
  esac
done; true"""


@dataclass
class Journey:
    """One machine and its house, and the table of results, with times in the guest's seconds."""

    machine: Machine
    house: House
    rows: list[tuple[str, str]] = field(default_factory=list)

    def note(self, step: str, seen: str) -> None:
        self.rows.append((step, seen))
        print(f"\n   {step}: {seen}", flush=True)

    def journal(self, words: str) -> float:
        """Seconds after the kernel's start of the first log line of this boot that has `words`."""
        said = self.machine.tell("journalctl -b -o short-monotonic --no-pager")
        line = next(row for row in said.splitlines() if re.search(words, row))
        return float(re.match(r"\[\s*([\d.]+)\]", line)[1])  # type: ignore[index]

    def userspace(self) -> float:
        """Seconds after the kernel's start at which systemd started."""
        return int(self.machine.tell("systemctl show -P UserspaceTimestampMonotonic")) / 1e6


def own_model(stick: Path) -> dict[str, Any]:
    """Copy the pocket model's files to a stick as the owner's own model; returns its row."""
    pocket = catalogue.find("pocket")
    assert pocket.language is not None
    said: dict[str, Any] = {
        "persona": pocket.language.persona, "instruction": pocket.language.instruction,
        "context_tokens": pocket.language.context_tokens,
        "history_tokens": pocket.language.history_tokens,
        "temperature": 0, "top_p": 1, "top_k": 1,
    }  # fmt: skip
    for role, file in pocket.files.items():
        data = (catalogue.PACKAGE / file.path).read_bytes()
        (stick / f"mine-{role}.gguf").write_bytes(data)
        said[role] = {"file": f"mine-{role}.gguf", "size": len(data),
                      "sha256": hashlib.sha256(data).hexdigest()}  # fmt: skip
    return said


def seed(key: str, row: dict[str, Any]) -> str:
    return yaml.safe_dump({
        "hostname": "kitchen", "name": "Kitchen", "timezone": "Europe/Berlin", "ssh_keys": [key],
        "mqtt": {"broker": "homeassistant.local", "user": USER, "password": PASSWORD},
        "model": MODEL, "models": {MODEL: row},
    })  # fmt: skip


@pytest.fixture(scope="module")
def journey(built: Path, door: Path, image_scratch: Path) -> Iterator[Journey]:
    scratch = image_scratch / "journey"
    (scratch / "stick").mkdir(parents=True)
    card = Card.copy(built, scratch / "card.img")
    row = own_model(scratch / "stick")
    card.put(CONFIG, "interlude.yaml", seed(door.with_suffix(".pub").read_text().strip(), row),
             scratch)  # fmt: skip
    stick = scratch / "stick.img"
    subprocess.run(["mkfs.vfat", "-C", "-n", "STICK", stick, "65536"], check=True,
                   capture_output=True)  # fmt: skip
    for file in sorted((scratch / "stick").iterdir()):
        disk.tell("mcopy", "-i", stick, file, "::")
    with House(scratch) as house:
        machine = Machine(
            card, scratch, door, tap=TAP, header=True, words=HARDWARE, memory_mib=4096,
            more=("-device", "qemu-xhci,id=usb",
                  "-drive", f"if=none,id=stick,file={stick},format=raw,readonly=on",
                  "-qmp", f"unix:{scratch}/qmp.sock,server=on,wait=off"),
        )  # fmt: skip
        machine.start()
        try:
            machine.address = house.address_of("kitchen.local", LIMIT_S)
            yield Journey(machine, house)
        finally:
            machine.cut_power()
            shutil.copy(scratch / "console.log", image_scratch.parent / "console-journey.log")


def test_the_seed_holds_and_is_gone_from_the_card(journey: Journey) -> None:
    """The fixture has already found it by the host name of the seed, kitchen.local."""
    machine = journey.machine
    machine.wait_for(READY, LIMIT_S)
    assert machine.tell("hostname") == "kitchen"
    assert machine.tell("readlink /etc/localtime").endswith("Europe/Berlin")
    status = machine.status()
    assert (status["version"], status["healthy"], status["failed"]) == (__version__, True, [])
    config = f"{machine.card.image}@@{machine.card.places()[CONFIG]}"
    assert "interlude.yaml" not in disk.tell("mdir", "-b", "-i", config, "::")
    journey.note("seed applied, name found", f"kitchen.local is {machine.address}")
    ready = int(machine.tell("systemctl show -P ActiveEnterTimestampMonotonic interlude")) / 1e6
    journey.note("ready", f"{ready - journey.userspace():.1f} s of userspace")


def test_the_panel_found_the_header_and_the_light_is_lit_first(journey: Journey) -> None:
    machine = journey.machine
    chip = machine.tell("gpiodetect | grep pinctrl-rp1").split()[0]
    rows = machine.tell(f"gpioinfo -c {chip}").splitlines()
    for line, word in ((22, "output"), (17, "input")):
        row = next(each for each in rows if re.search(rf"\b{line}\b", each))
        assert word in row, row
        assert "interlude" in row, row


def test_check_finds_the_box_well_as_it_runs(journey: Journey) -> None:
    """Rights of the service, broker login and sound card are right; there is no problem."""
    done = journey.machine.ssh("interlude check --json")
    found = [(row["looked_at"], row["verdict"], row["sentence"]) for row in json.loads(done.stdout)]
    print("\n".join(f"   {row}" for row in found))
    assert [row for row in found if row[1] == "problem"] == []
    sound = " ".join(sentence for at, _, sentence in found if at == "sound card")
    assert f"plughw:CARD={SOUND_CARD}" in sound
    assert "has it open" in sound
    assert all(verdict == "ok" for at, verdict, _ in found if at in {"cores", "permissions"})
    assert any(at == "house" and "lets us in" in sentence for at, _, sentence in found)


def test_the_house_has_the_box_with_all_its_entities(journey: Journey) -> None:
    """The seed names the broker by host name only, and the box resolves it."""
    ear = journey.house.ear
    assert ear.wait_until(lambda: len(journey.house.entities()) >= 25, LIMIT_S)
    clients = [heard for heard in ear.heard if heard.topic.startswith("interlude/")]
    assert clients
    log = (journey.machine.scratch / "mosquitto.log").read_text()
    assert f"u'{USER}'" in log
    assert f" {journey.machine.address}:" in log
    journey.note("homeassistant.local found", f"{len(journey.house.entities())} entities at "
                 f"{ADDRESS}")  # fmt: skip


VERBS = {
    "interlude status": 0,
    "interlude check": 0,
    "interlude models list": 0,
    "interlude models verify": 0,
    "interlude memory show": 0,
    "interlude say 'Hello from the shell.'": 0,
    "interlude config --changed": 0,
    "interlude release status": 0,
    "interlude system status": 0,
}


@pytest.mark.parametrize("verb", VERBS)
def test_the_owners_verbs_work_on_the_box_by_ssh(journey: Journey, verb: str) -> None:
    done = journey.machine.ssh(verb)
    print(f"\n   $ {verb}\n{done.stdout}{done.stderr}")
    assert done.returncode == VERBS[verb], done.stderr + done.stdout


@pytest.fixture(scope="module")
def visitor(journey: Journey) -> Visitor:
    """A browser in the house, with the box's name in the address bar."""
    journey.machine.wait_for(READY, LIMIT_S)
    return Visitor(journey.machine.address, "kitchen.local")


def test_the_page_tells_a_stranger_its_name_and_state_and_nothing_else(
    journey: Journey, visitor: Visitor
) -> None:
    begun_s = time.monotonic()
    status, text = visitor.get("/")
    journey.note("the page answers a stranger", f"{time.monotonic() - begun_s:.1f} s of the host's")
    assert status == 200
    assert "<title>Kitchen</title>" in text
    assert 'action="/pair/button"' in text
    for path in ("/set", "/own/memory", "/own/report", "/access"):
        assert visitor.get(path) == (200, text), path
    assert USER not in text
    assert visitor.get("/events")[0] == 403
    assert visitor.post("/set", {"form": "panel", "panel.night": "22:00-07:00"})[0] == 403


def test_the_page_answers_neither_to_another_name_nor_to_another_pages_form(
    journey: Journey, visitor: Visitor
) -> None:
    other = Visitor(journey.machine.address, "kitchen.example.org")
    assert other.get("/")[0] == 421
    assert visitor.post("/pair/button", {}, Origin="http://example.org")[0] == 403
    by_number = Visitor(journey.machine.address, journey.machine.address)
    assert by_number.get("/")[0] == 200


@pytest.mark.parametrize(("kind", "told"), [("_http._tcp", b"path=/"),
                                            ("_interlude._tcp", b"scheme=http")])  # fmt: skip
def test_the_page_is_found_by_who_looks_for_services(
    journey: Journey, kind: str, told: bytes
) -> None:
    answer, port = announced(kind, ADDRESS, LIMIT_S)
    assert port == 80
    assert b"Interlude on kitchen" in answer
    assert told in answer


def test_a_press_of_the_button_lets_the_browser_in_that_waits(
    journey: Journey, visitor: Visitor
) -> None:
    if visitor.post("/pair/button", {})[0] == 429:  # at night: asked again soon after a start
        journey.machine.tell("systemctl restart interlude")
        journey.machine.wait_for(READY, LIMIT_S)
        assert visitor.post("/pair/button", {})[0] == 303
    assert 'http-equiv="refresh"' in visitor.get("/pair")[1]
    visitor.until_announced(LIMIT_S)
    header = "cd /sys/devices/platform/gpio-sim*/gpiochip*/sim_gpio17"
    journey.machine.tell(f"{header} && echo pull-down >pull && sleep 0.2 && echo pull-up >pull")
    visitor.until_let_in(LIMIT_S)
    assert "canvas" in visitor.get("/")[1]
    journey.note("let in by the button", str(sorted(visitor.cookies)))


def test_a_setting_is_changed_at_the_page_in_the_owners_file_and_undone(
    journey: Journey, visitor: Visitor
) -> None:
    machine, file = journey.machine, "/etc/interlude/settings.yaml"
    before = machine.tell(f"cat {file}")
    remarks = [row for row in before.splitlines() if row.startswith("#")]
    assert remarks
    form = visitor.hidden("/set") | {"form": "panel", "panel.night": "21:30-06:15"}
    assert visitor.post("/set", form)[0] == 303
    machine.wait_for(f"grep -q 21:30-06:15 {file}", LIMIT_S)
    visitor.until_settled("/set", LIMIT_S)
    after = machine.tell(f"cat {file}")
    assert yaml.safe_load(after)["panel"]["night"] == "21:30-06:15"
    assert [row for row in after.splitlines() if row.startswith("#")] == remarks
    assert machine.tell(f"stat -c '%U:%G %a' {file}") == "root:root 644"
    assert machine.tell("interlude config --changed | grep -c 21:30-06:15") == "1"
    assert visitor.post("/set/undo", visitor.hidden("/set"))[0] == 303
    machine.wait_for(f"! grep -q 21:30-06:15 {file}", LIMIT_S)
    assert machine.tell(f"cat {file}") == before
    journey.note("set and undone", f"{len(remarks)} lines of remarks kept")


def test_each_page_opens_and_the_process_is_small(journey: Journey, visitor: Visitor) -> None:
    """Also prints the memory of each other part."""
    for path in PAGES:
        assert visitor.get(path)[0] == 200, path
    rows = dict(row.split(": ") for row in journey.machine.tell(MEMORY).splitlines())
    sizes = {part: [int(size) / 1024 for size in said.split()] for part, said in rows.items()}
    said = ", ".join(f"{part} {pss:.0f}" for part, (_, pss) in sorted(sizes.items()))
    journey.note("PSS in MiB", f"{said}; together {sum(pss for _, pss in sizes.values()):.0f}")
    resident, own = sizes["page"]
    journey.note("the page's memory", f"{resident:.1f} MiB resident, {own:.1f} MiB PSS")
    assert own < PAGE_MIB


def test_no_unit_failed_and_each_is_little_exposed_as_it_runs(journey: Journey) -> None:
    machine = journey.machine
    assert machine.tell("systemctl --failed --no-legend --plain") == ""
    said = machine.tell(EXPOSURE)
    levels = {name: float(level) for name, level in re.findall(r"(interlude\S*): ([\d.]+)", said)}
    journey.note("exposure", ", ".join(f"{name} {level}" for name, level in levels.items()))
    assert {"interlude.service", "interlude-page.service", "interlude-settings.service"} <= set(
        levels
    )
    assert max(levels.values()) <= MOST_EXPOSURE


def qmp(machine: Machine, *commands: dict[str, Any]) -> None:
    """Send commands to QEMU by its monitor protocol, such as plugging in a stick."""
    import socket

    with socket.socket(socket.AF_UNIX) as line:
        line.connect(str(machine.scratch / "qmp.sock"))
        file = line.makefile("rwb")
        file.readline()
        for command in ({"execute": "qmp_capabilities"}, *commands):
            file.write(json.dumps(command).encode() + b"\n")
            file.flush()
            while "return" not in (said := json.loads(file.readline())):
                assert "error" not in said, said


def test_the_model_comes_from_a_stick(journey: Journey) -> None:
    machine = journey.machine
    assert f"{MODEL} is awaited" in machine.tell("interlude models list")
    entered = "systemctl show -P ActiveEnterTimestampMonotonic interlude"
    before = machine.tell(entered)
    qmp(machine, {"execute": "device_add",
                  "arguments": {"driver": "usb-storage", "bus": "usb.0", "drive": "stick",
                                "id": "plugged"}})  # fmt: skip
    machine.wait_for(f"interlude models list | grep -E '^{MODEL} .*installed'", LIMIT_S)
    # The box restarts with the model; between the two starts there is no status file.
    machine.wait_for(f"test $({entered}) -gt {before} && {READY}", LIMIT_S)
    journey.note("model from a stick", machine.tell(f"interlude models list | grep '^{MODEL}'"))


@pytest.fixture(scope="module")
def talk(journey: Journey) -> dict[str, Any]:
    """A question, a change of mind, the button (talk.py)."""
    heard = converse(journey.machine)
    assert not heard["problem"], heard
    for step, seconds in heard["took"].items():
        journey.note(step, f"{seconds:.2f} s")
    return heard


def test_a_question_is_answered_and_an_interruption_ends_the_answer(talk: dict[str, Any]) -> None:
    assert 0 < talk["took"]["question to answer"] < 10
    assert talk["took"]["change of mind to silence"] < 1.0


def test_the_button_ends_an_answer(talk: dict[str, Any]) -> None:
    assert talk["took"]["button to silence"] < 0.5


def test_after_a_restart_it_remembers_and_is_found_again(
    journey: Journey, talk: dict[str, Any]
) -> None:
    machine = journey.machine
    before = machine.tell("interlude memory show")
    print(f"\n{before}")
    machine.ssh("reboot")
    machine.ends(LIMIT_S)
    machine.start()
    machine.address = journey.house.address_of("kitchen.local", LIMIT_S)
    machine.wait_for(READY, LIMIT_S)
    assert machine.tell("interlude memory show") == before
    assert MODEL in machine.tell("interlude config --changed")
    journey.note("restart", "memory, name, model as before")


def test_the_table_of_the_journey(journey: Journey) -> None:
    width = max(len(step) for step, _ in journey.rows)
    print()
    for step, seen in journey.rows:
        print(f"   {step:{width}}  {seen}")
