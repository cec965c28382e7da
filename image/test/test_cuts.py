"""Power cuts at every write of an update: of a release, of a failing release, of the system.

A virtual machine updates a card with the box's own code on a real ext4 and real partitions
(guest_updates.py), and QEMU logs every request to its disk. For each request the test makes the
card as after a power cut right after it, and again with some of the unflushed writes missing. Then
`data` is repaired as in the initramfs, the emulated firmware chooses a slot, and the unit's own
script starts a release.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from appliance.update.release.installer import ReleaseInstaller
from appliance.update.release.store import ReleaseStore
from appliance.update.system.slot import autoboot, named
from appliance.update.system.slot_state import SlotStateFile
from image import disk, layout
from image.firmware import TRYBOOT, Firmware, NoStart, places
from image.plan import ROOT
from image.test import cuts, guest
from image.test.guest_updates import MARK, MARK_AT, STEPS
from tests.update.release.workshop import PaperBox
from tests.update.system.workshop import FAT_MIB, Foundry, fat, foundry

pytestmark = pytest.mark.timeout(1800)  # emulated, and then some thousand programs

# The card's partitions with small sizes; `data` has the free space that an installation requires.
SIZES = {"fat": FAT_MIB, "erofs": 1, "ext4": 96}
SMALL = tuple(replace(row, mib=SIZES[row.holds]) for row in layout.LAYOUT)
OLD, NEW = "0.1.0", "0.2.0"
VERSIONS = {"a": OLD, "b": NEW}  # by slot
LOSSY = 2  # disks with missing writes, for each request
START = ROOT / "system/usr/lib/interlude/start"


@dataclass
class Made:
    """The input of the virtual machine, and what the results are compared with."""

    folder: Path
    foundry: Foundry
    card: Path
    begins: dict[str, int]

    def part(self, name: str, count: int) -> bytes:
        """The first bytes of a partition of the card."""
        with self.card.open("rb") as file:
            file.seek(self.begins[name])
            return file.read(count)


@dataclass(frozen=True)
class Start:
    """What the card starts: release and system, and whether `data` needed more than `e2fsck -p`."""

    release: str
    system: str
    torn: bool


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """A card with a release and a system, and the updates for it."""
    folder = tmp_path_factory.mktemp("cuts")
    systems = foundry(folder)
    shop = systems.shop
    tree = folder / "data"
    store = ReleaseStore(tree / "opt/interlude", folder / "run")
    ReleaseInstaller(store, PaperBox(store), shop.signers).install(shop.make(OLD, files=8))
    shutil.copy(shop.make(NEW, files=8), folder / "good.release")
    shutil.copy(shop.make("0.3.0", "crashes", files=8), folder / "failing.release")
    shutil.copy(systems.make(NEW).archive, folder / "new.system")
    shutil.copy(shop.signers, folder / "allowed_signers")
    first = systems.make(OLD)
    disk.ext4(folder / "data.ext4", "data", SIZES["ext4"], tree)
    parts = {
        "bootconfig": fat(folder / "config.fat", {"autoboot.txt": autoboot("a").encode()}),
        "boot_a": first.boot,
        "system_a": first.system,
        "data": folder / "data.ext4",
    }
    card = folder / "card.img"
    with card.open("wb") as file:
        file.truncate((layout.ALIGN_MIB + sum(row.mib for row in SMALL) + 1) << 20)
    rows = [f'size={row.mib}MiB, type={row.type}, name="{row.name}"' for row in SMALL]
    rows[0] = f"start={layout.ALIGN_MIB}MiB, {rows[0]}"
    disk.tell("sfdisk", "--quiet", "--no-reread", "--no-tell-kernel", card,
              stdin="\n".join(["label: gpt", *rows]))  # fmt: skip
    found = Made(folder, systems, card, disk.offsets(card))
    with card.open("r+b") as file:
        for name, part in parts.items():
            file.seek(found.begins[name])
            file.write(part.read_bytes())
    return found


@pytest.fixture(scope="module")
def requests(made: Made) -> list[cuts.Request]:
    """The virtual machine's writes, in their order. The card itself is not changed."""
    began = time.monotonic()
    used = made.folder / "used.img"
    subprocess.run(["cp", "--sparse=always", made.card, used], check=True)
    log = made.folder / "writes.log"
    path = f"PYTHONPATH={ROOT}"
    words = ["env", path, "PYTHONDONTWRITEBYTECODE=1", "TMPDIR=/run", f"PATH={os.environ['PATH']}",
             sys.executable, "-m", "image.test.guest_updates", str(made.folder)]  # fmt: skip
    guest.run(words, used, log, made.folder)
    found = cuts.read(log)
    took_s = time.monotonic() - began
    print(f"\n   {len(found)} requests, {sum(one.flush for one in found)} flushes: {took_s:.0f} s")
    return found


def start(made: Made, scratch: Path) -> Start:
    """Start the card once, as a box does. Raises AssertionError if anything is damaged."""
    data = scratch / "data.ext4"
    data.unlink(missing_ok=True)
    disk.tell("dd", f"if={made.card}", f"of={data}", "bs=1M", "conv=sparse", "status=none",
              f"skip={made.begins['data'] >> 20}", f"count={SIZES['ext4']}")  # fmt: skip
    mended = subprocess.run(["e2fsck", "-p", data], capture_output=True, check=False).returncode
    if mended > 1:
        mended = subprocess.run(["e2fsck", "-y", data], capture_output=True, check=False).returncode
        assert mended <= 2, f"data cannot be mended: {mended}"
        mended = 2
    tree = scratch / "tree"
    shutil.rmtree(tree, ignore_errors=True)
    tree.mkdir()
    subprocess.run(["debugfs", "-R", f"rdump /opt {tree}", data], capture_output=True, check=True)
    root = tree / "opt/interlude"
    places_ = {"INTERLUDE_KEPT": str(root / "current"), "INTERLUDE_TRIAL": str(tree / "none")}
    done = subprocess.run([START], env={**os.environ, **places_}, capture_output=True, text=True,
                          check=False)  # fmt: skip
    assert done.returncode == 0, f"no release starts: {done.stderr}"
    release = done.stdout.partition(" ")[0]
    assert release in VERSIONS.values(), f"what starts says `{done.stdout}`"
    whole = made.foundry.shop.folder / f"tree-{release}-good"
    for path in whole.rglob("*"):
        if path.is_file():
            there = root / "releases" / release / path.relative_to(whole)
            assert there.read_bytes() == path.read_bytes(), f"{there} is not what was signed"
    return Start(release, system(made, SlotStateFile(root / "system")), mended > 1)


def system(made: Made, slot_state: SlotStateFile) -> str:
    """The version of the system that the firmware starts; checks that it is complete."""
    fats = tuple(row.name for row in SMALL if row.holds == "fat")
    firmware = Firmware(places(made.card, made.begins, fats))
    started = firmware.start()
    version = VERSIONS[named(started.cmdline) or ""]
    assert started.kernel.startswith(f"kernel {version}\n".encode())
    slots = [named(started.cmdline)]
    noted = slot_state.content("b")
    if noted is not None:  # what is marked as complete is so, and may be tried
        assert noted.version == NEW
        slots.append("b")
        if version == OLD:
            assert firmware.restart(TRYBOOT).kernel.startswith(f"kernel {NEW}\n".encode())
    for slot in slots:
        wanted = made.foundry.make(VERSIONS[slot or ""]).system.read_bytes()
        there = made.part(f"system_{slot}", len(wanted))
        assert there == wanted, f"slot {slot} is not what was signed"
    return version


def test_after_a_cut_at_any_write_the_old_or_the_new_starts_whole(
    made: Made, requests: list[cuts.Request]
) -> None:
    chance = random.Random(5)  # noqa: S311  # the same losses each time, and no secret
    card = cuts.Disk(made.card)
    seen: Counter[tuple[str, str]] = Counter()
    steps: list[str] = []
    lossy = torn = 0
    began = time.monotonic()

    def look(number: int, what: str) -> Start:
        try:
            found = start(made, made.folder)
        except (AssertionError, NoStart, OSError) as error:
            after = steps[-1] if steps else "the beginning"
            pytest.fail(f"request {number} of {len(requests)}, {what}, after {after}: {error}")
        seen[found.release, found.system] += 1
        # A step that was reported as complete holds, and the next one has not happened yet.
        assert found.release == NEW if STEPS[0] in steps else found.release in {OLD, NEW}
        assert found.system == OLD if STEPS[2] not in steps else found.system in {OLD, NEW}
        assert found.system == NEW if STEPS[3] in steps else True
        return found

    assert look(0, "before all of them") == Start(OLD, OLD, torn=False)
    for number, request in enumerate(requests, 1):
        card.take(request)
        if request.at == MARK_AT:
            steps.append(request.data.removeprefix(MARK).rstrip(b"\0").decode())
        elif request.data:
            torn += look(number, "whole").torn
            for _ in range(LOSSY):
                for _ in card.lossy(chance):
                    lossy += 1
                    torn += look(number, "with a part of what was not flushed").torn
    assert tuple(steps) == STEPS
    assert set(seen) >= {(OLD, OLD), (NEW, OLD), (NEW, NEW)}
    states = sum(seen.values())
    took_s = time.monotonic() - began
    print(f"\n   {states} states, {lossy} of them lossy: all good; `data` mended in {torn}; "
          f"{took_s:.0f} s; {dict(seen)}")  # fmt: skip
