"""Makes a system slot of the root file system, without files that differ by machine or by build.

In: the root file system, the kernel. Out: a folder with system.erofs, data.ext4 (what both slots
share: the release, settings, state), the listings of both, and the SBOM.
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
IDENTITY = "494e5445-524c-4c55-8445-000000000001"  # UUID of the file systems; the same on each box
# Files that differ between two builds, or that a box does not need.
_REMOVED = (
    "etc/ssh/ssh_host_*",
    "etc/*-",  # passwd-, group-, …: backups from before the last change
    "etc/.pwd.lock",
    "etc/resolv.conf",
    "var/cache/apt/*",
    "var/cache/debconf/*-old",
    "var/cache/ldconfig/*",
    "var/lib/apt/lists/*",
    "var/lib/dbus/machine-id",
    "var/lib/dpkg/*-old",
    "var/lib/systemd/random-seed",
    "var/lib/interlude/.cache",  # onnxruntime stores a random id of the machine there
    "var/log/*",
    "root/.ansible",
    "root/.cache",
    "tmp/*",
    "run/*",
    "dev/*",
    "mnt/*",
)
# Maintenance of a writable system; this one is read-only and updated as a whole.
_TIMERS = (
    "apt-daily.timer",
    "apt-daily-upgrade.timer",
    "dpkg-db-backup.timer",
    "e2scrub_all.timer",
    "e2scrub_reap.service",
)


def finish(plan: Plan, root: Path, kernel: Path, into: Path) -> None:
    """Write the content of the card's partitions to `into`. Changes `root`. Raises Misfit."""
    into.mkdir(parents=True)
    rows = sbom.rows(root, kernel)
    (into / "sbom.json").write_text(sbom.document(rows, plan.version, plan.time_s))
    _clean(root)
    _write_identity(plan, root)
    shutil.copytree(
        kernel / "lib/modules", root / "usr/lib/modules", symlinks=True, dirs_exist_ok=True
    )
    data = _split_data(plan, root)
    _set_times(root, plan.time_s)
    for name, folder in (("system", root), ("data", data)):
        (into / f"{name}.list").write_text(tree.listing(folder))
    disk.erofs(into / "system.erofs", root, plan.time_s, IDENTITY)
    data_mib = layout.LAYOUT[layout.number("data") - 1].mib
    disk.ext4(into / "data.ext4", "data", data_mib, data, time_s=plan.time_s, identity=IDENTITY)


def _clean(root: Path) -> None:
    for pattern in _REMOVED:
        for path in root.glob(pattern):
            remove(path)
    for timer in _TIMERS:
        for link in root.glob(f"etc/systemd/system/*.wants/{timer}"):
            link.unlink()


def _write_identity(plan: Plan, root: Path) -> None:
    """Write the image's name and version, and the files of /etc that Debian's installer writes."""
    os_release = root / _OS_RELEASE
    lines = [row for row in os_release.read_text().splitlines() if not row.startswith("IMAGE_")]
    os_release.write_text(
        "\n".join([*lines, "IMAGE_ID=interlude", f'IMAGE_VERSION="{plan.version}"', ""])
    )
    (root / "etc/machine-id").write_text("")  # the initramfs adds the box's own
    (root / "etc/hostname").write_text("interlude\n")
    (root / "etc/hosts").write_text("127.0.0.1 localhost\n::1 localhost\n127.0.1.1 interlude\n")
    (root / "etc/fstab").write_text(
        "# The initramfs mounts the slot, /data and what is bound from it.\n"
    )
    # Debian without an installer has none, and each login would print a warning.
    (root / "etc/default/locale").write_text("LANG=C.UTF-8\n")
    (root / "data").mkdir(exist_ok=True)
    # Tells systemd that the caches of the linker, the journal and udev are up to date. Otherwise it
    # would rebuild them at each start, since what it writes to /etc is lost with the power.
    for name in ("etc/.updated", "var/.updated"):
        (root / name).write_text(f"TIMESTAMP_NSEC={plan.time_s * 10**9}\n")


def _split_data(plan: Plan, root: Path) -> Path:
    """Copy the folders of `data` to a tree of their own.

    The slot keeps a copy of them, except for the releases below opt/interlude.
    """
    data = plan.work / "data"
    remove(data)
    data.mkdir()
    (data / "keep").mkdir(mode=0o755)
    for path in KEPT:
        folder = root / path
        if not folder.is_dir():
            continue
        shutil.copytree(folder, data / path, symlinks=True)
        _same_owners(folder, data / path)
        if path == "opt/interlude":
            for entry in folder.iterdir():
                remove(entry)
    return data


def _same_owners(source: Path, target: Path) -> None:
    """Copy the owners of all files of `source` to `target`: shutil copies only modes and times."""
    for path in (source, *source.rglob("*")):
        status, copy = path.lstat(), target / path.relative_to(source)
        os.chown(copy, status.st_uid, status.st_gid, follow_symlinks=False)


def _set_times(root: Path, time_s: int) -> None:
    """Write `time_s`, which all files get in the slot, as the source's time into each .pyc file.

    Header of a .pyc (PEP 552): magic, flags, time, size; with flags 0 Python compares the time.
    """
    for path in root.glob("usr/**/__pycache__/*.pyc"):
        with path.open("r+b") as file:
            header = file.read(16)
            if len(header) == 16 and header[4:8] == bytes(4):
                file.seek(8)
                file.write(struct.pack("<I", time_s & 0xFFFFFFFF))
