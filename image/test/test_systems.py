"""System slots of the built card, booted in QEMU: a good system is kept, a failing one is rolled
back, a damaged one is not started, and if the kept one is damaged the other slot starts.

The systems are the card's own with a few bytes changed. The argument of `reboot` is read from the
console, where Debian's kernel prints it, and passed to firmware.py. On a Pi it reaches the firmware
only with the kernel `rpi`.
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from appliance import __version__
from appliance.update.archive_parts import sign_archive
from appliance.update.signature import NAMESPACE, WHO
from appliance.update.system.pack import pack
from appliance.update.system.slot import AUTOBOOT, CONFIG, starts
from image import disk, layout
from image.firmware import TRYBOOT, NoStart
from image.plan import MACHINE
from image.test.emulator import Card, Machine
from image.test.prepared import HARDWARE, prepared

pytestmark = pytest.mark.timeout(14_400)  # five starts and two installations, emulated
LIMIT_S = 3600.0  # host time, for each of them
GOOD, FAILING = "0.2.0", "0.3.0"
_SUPER = 1024  # of erofs: linux/fs/erofs/erofs_fs.h; 12: log2 of a block, 36: blocks
STARTS = b'exec "$kept/bin/interlude" run'  # system/usr/lib/interlude/start
SEED = "hostname: kitchen\ntimezone: Europe/Berlin\n"
READY = "grep -q '\"ready\":true' /run/interlude/status.json"
SLOT_STATE = "/opt/interlude/system"
ENDED = f"test -e {SLOT_STATE}/last.json && ! test -e {SLOT_STATE}/trial.json"  # a trial


@dataclass(frozen=True)
class Seen:
    """The state after a start, from inside, and the slot that would start after a power cut."""

    slot: str
    trial: str
    version: str
    problem: str
    next: str


@dataclass
class Story:
    """The states by step, and the argument of `reboot` at the end of some steps."""

    seen: dict[str, Seen] = field(default_factory=dict)
    told: dict[str, str] = field(default_factory=dict)
    hostname: str = ""
    zone: str = ""
    left_of_seed: str = ""
    data_mib: int = 0
    corrupt_console: str = ""
    no_start: str = ""


def next_slot(card: Card) -> str:
    return starts(disk.tell("mtype", "-i", f"{card.image}@@{card.places()[CONFIG]}",
                            f"::{AUTOBOOT}"))  # fmt: skip


def look(machine: Machine) -> Seen:
    said = json.loads(machine.tell("interlude system status --json"))
    trial = machine.tell("cat /run/interlude-start/trial")
    return Seen(said["slot"], trial, said["version"], said["problem"], next_slot(machine.card))


def part(card: Card, name: str, size: int = 0) -> bytes:
    """The first `size` bytes of a partition, or all of it."""
    with card.image.open("rb") as file:
        file.seek(card.places()[name])
        return file.read(size or layout.LAYOUT[layout.number(name) - 1].mib << 20)


def systems(card: Card, key: Path, into: Path) -> None:
    """Make two systems from the card's own in `into`: a newer one, and one that also fails."""
    head = part(card, "system_a", 4096)[_SUPER:]
    blocks = int.from_bytes(head[36:40], "little")
    own = part(card, "system_a", blocks << head[12])
    boot = into / "boot.fat"
    boot.write_bytes(part(card, "boot_a"))
    failing = b"exit 3".ljust(len(STARTS))
    for version, more in ((GOOD, {}), (FAILING, {STARTS: failing})):
        made = own
        for old, new in {_says(__version__): _says(version), **more}.items():
            assert len(old) == len(new)
            assert made.count(old) == 1, f"{old!r} is not what it was"
            made = made.replace(old, new)
        root = into / "system.erofs"
        root.write_bytes(made)
        archive = pack(boot, root, into, version=version, machine=MACHINE,
                       made_s=int(time.time()), level=1)  # fmt: skip
        sign_archive(archive, key)
        root.unlink()
    boot.unlink()


def _says(version: str) -> bytes:
    return f'IMAGE_VERSION="{version}"'.encode()


@pytest.fixture(scope="module")
def story(built: Path, signing_key: Path, door: Path, image_scratch: Path) -> Iterator[Story]:
    scratch = image_scratch / "systems"
    (scratch / "stick").mkdir(parents=True)
    public = " ".join(signing_key.with_suffix(".pub").read_text().split()[:2])
    card = prepared(built, scratch, door, SEED)
    card.keep(
        {"etc/interlude/allowed_signers": f'{WHO} namespaces="{NAMESPACE}" {public}\n'},
        scratch, mode=0o644,
    )  # fmt: skip
    systems(card, signing_key, scratch / "stick")
    stick = scratch / "stick.ext4"
    disk.ext4(stick, "stick", 768, scratch / "stick")
    machine = Machine(card, scratch, door, header=True, words=HARDWARE, more=(
        "-drive", f"if=none,id=stick,file={stick},format=raw,readonly=on",
        "-device", "virtio-blk-pci,drive=stick"))  # fmt: skip
    try:
        yield tell(machine)
    finally:
        machine.cut_power()
        shutil.copy(scratch / "console.log", image_scratch.parent / "console-systems.log")


def tell(machine: Machine) -> Story:
    """Run all steps in their order."""
    story = Story()
    began = time.monotonic()

    def note(step: str, until: str = READY) -> None:
        machine.wait_for(until, LIMIT_S)
        story.seen[step] = look(machine)
        print(f"\n   {time.monotonic() - began:.0f} s {step}: {story.seen[step]}", flush=True)

    machine.start()
    note("the first start")
    story.hostname = machine.tell("hostname")
    story.zone = machine.tell("readlink /etc/localtime")
    config = f"{machine.card.image}@@{machine.card.places()[CONFIG]}"
    story.left_of_seed = disk.tell("mdir", "-b", "-i", config, "::")
    story.data_mib = int(machine.tell("stat -f -c '%b * %S / 1048576' /data | xargs expr"))

    machine.tell("mount -o ro /dev/vda /mnt")
    done = machine.ssh(f"interlude system install /mnt/interlude-{GOOD}-{MACHINE}.system", LIMIT_S)
    assert done.returncode in {0, 255}, done.stderr  # 255: it rebooted before ssh got the result
    story.told["installed"] = machine.goes_down(LIMIT_S)
    machine.start(story.told["installed"])
    note("the trial of a good one", ENDED)

    # As the update button does: the requester has no rights, the box's own service has few.
    archive = f"interlude-{FAILING}-{MACHINE}.system"
    incoming = "/var/lib/interlude-incoming"
    machine.tell("mount -o ro /dev/vda /mnt")
    machine.tell(f"runuser -u interlude -- sh -c 'cp /mnt/{archive} "
                 f"{incoming}/ && printf {archive} >{incoming}/wanted-system'")  # fmt: skip
    story.told["asked for a failing one"] = machine.goes_down(LIMIT_S)
    machine.start(story.told["asked for a failing one"])
    story.told["failing"] = machine.goes_down(LIMIT_S)
    machine.start(story.told["failing"])
    note("after a failing one", f"{READY} && {ENDED}")
    machine.ssh("systemctl poweroff")
    machine.ends(LIMIT_S)

    whole = part(machine.card, "system_a", 1 << 20)
    machine.card.put_bytes("system_a", bytes(len(whole)))
    machine.start(TRYBOOT)
    story.told["corrupt"] = machine.goes_down(LIMIT_S)
    story.corrupt_console = machine.console
    machine.card.put_bytes("system_a", whole)

    for name in ("boot_a", "system_b"):
        machine.card.put_bytes(name, bytes(1 << 20))
    try:
        machine.start(TRYBOOT)
    except NoStart as error:
        story.no_start = str(error)
    machine.start()
    note("the kept system corrupt", "true")
    return story


def test_the_seed_on_the_card_was_taken_and_wiped(story: Story) -> None:
    assert story.hostname == "kitchen"
    assert story.zone.endswith("Europe/Berlin")
    assert "interlude.yaml" not in story.left_of_seed


def test_data_grew_to_the_end_of_the_card(story: Story) -> None:
    assert story.data_mib > 3500


def test_a_good_system_is_tried_once_and_kept(story: Story) -> None:
    assert story.told["installed"] == TRYBOOT
    assert story.seen["the trial of a good one"] == Seen("b", "yes", GOOD, "", "b")


def test_a_failing_system_that_was_requested_is_rolled_back(story: Story) -> None:
    assert story.told["asked for a failing one"] == TRYBOOT
    assert story.told["failing"] == ""
    after = story.seen["after a failing one"]
    assert (after.slot, after.trial, after.version, after.next) == ("b", "no", GOOD, "b")
    assert "failed its health check" in after.problem


def test_a_corrupt_system_ends_its_trial_before_it_starts(story: Story) -> None:
    assert "system_a cannot be used; restarting" in story.corrupt_console
    assert story.told["corrupt"] == ""


def test_a_slot_without_boot_files_is_no_start(story: Story) -> None:
    assert "partition 2 has no" in story.no_start


def test_where_the_kept_system_is_corrupt_the_other_one_starts(story: Story) -> None:
    """Only kernel and initramfs of the selected slot are left; ssh works, and status says why."""
    seen = story.seen["the kept system corrupt"]
    assert (seen.slot, seen.trial, seen.version, seen.next) == ("a", "no", FAILING, "b")
