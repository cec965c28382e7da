"""A system slot: the root file system after the roles, without what is one machine's or one day's.

In: the root file system, the kernel. Out: a folder with system.erofs, data.ext4 (what outlives a
slot: the release, settings, state), the listings of both, and the SBOM's rows.
"""

from __future__ import annotations

import os
import shutil
import struct
from pathlib import Path

from image import disk, layout, sbom, tree
from image.initramfs import KEPT
from image.plan import Plan, remove

_OS_RELEASE = "usr/lib/os-release"
IDENTITY = "494e5445-524c-4c55-8445-000000000001"  # of the file systems; names no box
# What differs from one making to the next, or is nobody's business on a box.
_GONE = (
    "etc/ssh/ssh_host_*",
    "etc/*-",  # passwd-, group-, …: what was before the last change
    "etc/.pwd.lock",
    "etc/resolv.conf",
    "var/cache/apt/*",
    "var/cache/debconf/*-old",
    "var/cache/ldconfig/*",
    "var/lib/apt/lists/*",
    "var/lib/dbus/machine-id",
    "var/lib/dpkg/*-old",
    "var/lib/systemd/random-seed",
    "var/lib/interlude/.cache",  # onnxruntime makes a number up for each machine and keeps it there
    "var/log/*",
    "root/.ansible",
    "root/.cache",
    "tmp/*",
    "run/*",
    "dev/*",
    "mnt/*",
)
# A read-only system is updated as a whole: what looks after a writable one has nothing to do here.
_TIMERS = (
    "apt-daily.timer",
    "apt-daily-upgrade.timer",
    "dpkg-db-backup.timer",
    "e2scrub_all.timer",
    "e2scrub_reap.service",
)


def finish(plan: Plan, root: Path, kernel: Path, into: Path) -> None:
    """Make of `root`, which is changed, what goes into the card's partitions. Raises Misfit."""
    into.mkdir(parents=True)
    rows = sbom.rows(root, kernel)
    (into / "sbom.json").write_text(sbom.document(rows, plan.version, plan.time_s))
    _clean(root)
    _mark(plan, root)
    shutil.copytree(
        kernel / "lib/modules", root / "usr/lib/modules", symlinks=True, dirs_exist_ok=True
    )
    data = _apart(plan, root)
    _set_times(root, plan.time_s)
    for name, folder in (("system", root), ("data", data)):
        (into / f"{name}.list").write_text(tree.listing(folder))
    disk.erofs(into / "system.erofs", root, plan.time_s, IDENTITY)
    room = layout.LAYOUT[layout.number("data") - 1].mib
    disk.ext4(into / "data.ext4", "data", room, data, time_s=plan.time_s, identity=IDENTITY)


def _clean(root: Path) -> None:
    for pattern in _GONE:
        for path in root.glob(pattern):
            remove(path)
    for timer in _TIMERS:
        for link in root.glob(f"etc/systemd/system/*.wants/{timer}"):
            link.unlink()


def _mark(plan: Plan, root: Path) -> None:
    """What it is, and the few files of /etc that Debian leaves to an installer."""
    about = root / _OS_RELEASE
    said = [row for row in about.read_text().splitlines() if not row.startswith("IMAGE_")]
    about.write_text(
        "\n".join([*said, "IMAGE_ID=interlude", f'IMAGE_VERSION="{plan.version}"', ""])
    )
    (root / "etc/machine-id").write_text("")  # the initramfs has each box's own
    (root / "etc/hostname").write_text("interlude\n")
    (root / "etc/hosts").write_text("127.0.0.1 localhost\n::1 localhost\n127.0.1.1 interlude\n")
    (root / "etc/fstab").write_text(
        "# The initramfs mounts the slot, /data and what is bound from it.\n"
    )
    # A bare Debian has none, and each login would complain.
    (root / "etc/default/locale").write_text("LANG=C.UTF-8\n")
    (root / "data").mkdir(exist_ok=True)
    # Caches of the linker, the log and udev are there, and as old as all the rest: systemd would
    # make them anew at each start, for what it writes to /etc is gone with the power.
    for name in ("etc/.updated", "var/.updated"):
        (root / name).write_text(f"TIMESTAMP_NSEC={plan.time_s * 10**9}\n")


def _apart(plan: Plan, root: Path) -> Path:
    """What lives on `data` into a tree of its own. The slot keeps a copy of what is small."""
    data = plan.work / "data"
    remove(data)
    data.mkdir()
    (data / "keep").mkdir(mode=0o755)
    for path in KEPT:
        here = root / path
        if not here.is_dir():
            continue
        shutil.copytree(here, data / path, symlinks=True)
        _same_owners(here, data / path)
        if path == "opt/interlude":
            for part in here.iterdir():
                remove(part)
    return data


def _same_owners(one: Path, two: Path) -> None:
    """shutil copies modes and times, but nobody's files."""
    for path in (one, *one.rglob("*")):
        about = path.lstat()
        os.chown(two / path.relative_to(one), about.st_uid, about.st_gid, follow_symlinks=False)


def _set_times(root: Path, time_s: int) -> None:
    """All files get one time in the slot, and compiled Python must know its source's.

    The head of a .pyc (PEP 552): magic, flags, time, size; flags of 0 mean that the time counts.
    """
    for path in root.glob("usr/**/__pycache__/*.pyc"):
        with path.open("r+b") as file:
            head = file.read(16)
            if len(head) == 16 and head[4:8] == bytes(4):
                file.seek(8)
                file.write(struct.pack("<I", time_s & 0xFFFFFFFF))
