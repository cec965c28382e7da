"""A virtual machine of this machine's architecture with a complete Debian: systemd, our units, a
tiny release, and programs of the test that act as the owner and the devices around the box.

guest.py provides the kernel. Unlike there the guest has a root disk of its own, and its init is
systemd. Neither KVM nor a loop device is needed.
"""

from __future__ import annotations

import json
import platform
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from appliance.provision.apply_seed import ProvisionTarget, apply
from appliance.provision.seed import Seed
from image.plan import NotBuilt
from image.test import boxes, guest, tiny
from image.test.fleet import scratch as scratch_folder
from image.tools import ask

AT_FIRST = ("virtio_pci", "virtio_blk", "crc32c_generic", "ext4")
# What set-up, its page and its sentences import, and what `interlude check` prints findings with.
SETUP_NEEDS = (*tiny.NEEDED, "rich", "pygments", "markdown_it", "mdurl")
VERSION = "9.0.0"
TIMEOUT_S = 1500.0
DONE = "the owner has done it all"
INIT = """#!/bin/busybox sh
export PATH=/bin
/bin/busybox mkdir -p /proc /sys /dev /new
/bin/busybox --install -s /bin
mount -t devtmpfs dev /dev
mount -t proc proc /proc
mount -t sysfs sys /sys
while read -r module; do insmod "$module"; done </modules
until [ -b /dev/vda ]; do sleep 0.1; done
mount -t ext4 /dev/vda /new
for each in dev proc sys; do mount -o move /$each /new/$each; done
exec switch_root /new /lib/systemd/systemd
"""
PROGRAMS = "/usr/lib/guest"  # folder with the test's programs, as a package
OWNER_UNIT = f"""[Unit]
After=NetworkManager.service
[Service]
Environment=PYTHONPATH=/opt/interlude/current/lib:{PROGRAMS}
ExecStart=/usr/bin/python3 -m image.test.%s
ExecStopPost=-/usr/bin/journalctl -b --no-pager -o short-monotonic -n 400
ExecStopPost=/usr/bin/systemctl poweroff --force --force
StandardOutput=tty
StandardError=tty
TTYPath=/dev/console
[Install]
WantedBy=multi-user.target
"""
HERE = Path(__file__).parent


@dataclass(frozen=True)
class DebianGuest:
    """One such machine.

    packages  Debian packages, beside a box's own
    suite     Debian's suite; "": the one with this machine's Python
    modules   kernel modules on the disk: folders and files below kernel/
    enabled   units that are enabled, beside the owner's
    needed    Python packages in the release, by the name that is imported
    files     path, text, mode
    links     path and target of symlinks
    disabled  units that Debian starts, and the card does not
    programs  modules of this folder; the first is the owner, whose end powers off the machine
    seed      is applied to the root file system, as a card's seed is
    """

    packages: tuple[str, ...]
    modules: tuple[str, ...]
    enabled: tuple[str, ...]
    needed: tuple[str, ...]
    files: tuple[tuple[str, str, int], ...]
    programs: tuple[str, ...]
    links: tuple[tuple[str, str], ...] = ()
    disabled: tuple[str, ...] = ()
    seed: Seed | None = None
    suite: str = ""

    def run(self, scratch: Path) -> str:
        """Run the machine until it powers off and return its console output (also in console.log).

        Raises NotBuilt unless the owner's program reached its end.
        """
        machine = guest.kind()
        kernel = guest.kernel(machine)
        disk = self._disk(kernel, scratch)
        console = scratch / "console.log"
        subprocess.run(
            [
                # The guest's clock counts executed instructions: its timeouts do not depend on this
                # machine's load, and an idle guest skips to its next timer (see emulator.py).
                "setpriv", "--pdeathsig", "KILL",
                machine.qemu, *machine.machine, "-accel", "tcg", "-smp", "1", "-m", "1024",
                "-icount", "shift=0,sleep=off", "-rtc", "clock=vm",
                "-nodefaults", "-no-reboot", "-display", "none", "-monitor", "none",
                "-serial", f"file:{console}", "-device", "virtio-rng-pci",
                "-kernel", kernel / "kernel",
                "-initrd", guest.initramfs(kernel, scratch, INIT, AT_FIRST, {}),
                "-append", f"console={machine.console} quiet panic=-1 net.ifnames=0"
                " interlude.slot=a systemd.show_status=0 systemd.getty_auto=0"
                " systemd.journald.forward_to_console=1 systemd.journald.max_level_console=info",
                "-drive", f"if=none,id=disk,file={disk},format=raw,cache=unsafe",
                "-device", "virtio-blk-pci,drive=disk",
            ],
            stdin=subprocess.DEVNULL, capture_output=True, check=True, timeout=TIMEOUT_S,
        )  # fmt: skip
        said = console.read_text(errors="replace")
        if DONE not in said:
            telling = re.compile(r"^FACTS|interlude\[|interlude-setup|Traceback|Error|never said")
            told = [row for row in said.splitlines() if telling.search(row)]
            raise NotBuilt(f"The machine failed: {told} {said[-6000:]}")
        return said

    def _disk(self, kernel: Path, scratch: Path) -> Path:
        tree = boxes.root_file_system(scratch, self.packages, self.suite)
        shutil.copytree(boxes.ROOT / "system", tree, dirs_exist_ok=True, symlinks=True)
        for part in ("opt/interlude/releases", "data/keep", "etc/interlude"):
            (tree / part).mkdir(parents=True, exist_ok=True)
        packages = None if self.suite in ("", _own()) else _packages(tree, self.needed, scratch)
        release = tiny.plant(scratch / "release", "good", packages, self.needed)
        shutil.move(release, tree / "opt/interlude/releases" / VERSION)
        (tree / "opt/interlude/current").symlink_to(f"releases/{VERSION}")
        if self.seed:
            apply(self.seed, ProvisionTarget(tree, tree / "data/keep"))
        for name, text, mode in (
            *self.files,
            ("etc/systemd/system/owner.service", OWNER_UNIT % self.programs[0], 0o644),
            ("etc/hostname", "interlude\n", 0o644),
            ("etc/machine-id", "", 0o644),
            ("etc/fstab", "", 0o644),
        ):
            (tree / name).parent.mkdir(exist_ok=True)
            (tree / name).write_text(text)
            (tree / name).chmod(mode)
        for name, leads_to in self.links:
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            (tree / name).symlink_to(leads_to)
        programs = tree / PROGRAMS.lstrip("/") / "image/test"
        programs.mkdir(parents=True)
        for name in self.programs:
            shutil.copy(HERE / f"{name}.py", programs)
        ask("Users cannot be made", "systemd-sysusers", f"--root={tree}",
            boxes.ROOT / "system/usr/lib/sysusers.d/interlude.conf")  # fmt: skip
        ask("Keys for ssh cannot be made", "ssh-keygen", "-A", "-f", tree)
        ask("Units cannot be enabled", "systemctl", f"--root={tree}", "enable",
            *self.enabled, "owner.service")  # fmt: skip
        if self.disabled:
            ask("Units cannot be disabled", "systemctl", f"--root={tree}", "disable",
                *self.disabled)  # fmt: skip
        version = next((kernel / "lib/modules").iterdir()).name
        self._modules(kernel / "lib/modules" / version, tree / "usr/lib/modules" / version)
        ask("The modules cannot be listed", "depmod", "--basedir", tree / "usr", version)
        disk = scratch / "disk.img"
        with disk.open("wb") as file:
            file.truncate(2 << 30)
        ask("The disk cannot be made", "mke2fs", "-q", "-t", "ext4", "-d", tree, disk)
        return disk

    def _modules(self, of: Path, to: Path) -> None:
        for part in self.modules:
            source = of / "kernel" / part
            if source.is_dir():
                shutil.copytree(source, to / "kernel" / part)
            elif source.exists():
                (to / "kernel" / part).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(source, to / "kernel" / part)
        for listed in of.glob("modules.*"):
            if not listed.name.endswith(".bin"):
                shutil.copy(listed, to / listed.name)


def facts_of(machine: DebianGuest, name: str) -> dict[str, Any]:
    """Run the machine and return what its owner observed: the JSON after `FACTS ` on the console.

    The console is saved to build/test-image/console-NAME.log. Raises NotBuilt.
    """
    with scratch_folder() as folder:
        try:
            said = machine.run(folder)
        finally:
            kept = boxes.ROOT / f"build/test-image/console-{name}.log"
            kept.parent.mkdir(parents=True, exist_ok=True)
            if (folder / "console.log").exists():
                shutil.copy(folder / "console.log", kept)
    (line,) = [row for row in said.splitlines() if row.startswith("FACTS ")]
    found: dict[str, Any] = json.loads(line.removeprefix("FACTS "))
    print(f"\n   {json.dumps(found, indent=1)}")
    return found


def _own() -> str:
    """The Debian suite with this machine's Python."""
    return boxes.SUITES.get(sys.version_info[:2], "")


def _packages(tree: Path, names: tuple[str, ...], scratch: Path) -> Path:
    """Install the packages for the Python of that root file system, with the lock's hashes."""
    (python,) = (
        path.name for path in (tree / "usr/bin").glob("python3.*") if path.name[8:].isdigit()
    )
    digits = python.removeprefix("python").replace(".", "")
    listed = scratch / "wanted.txt"
    listed.write_text(tiny.locked(names, "requirements-dev.lock"))
    library = scratch / "packages"
    ask("Packages for the guest are missing", sys.executable, "-m", "pip", "install", "--no-deps",
        "--disable-pip-version-check", "--no-compile", "--ignore-requires-python",
        "--only-binary=:all:", "--implementation=cp", f"--python-version={digits}",
        f"--abi=cp{digits}", "--abi=abi3", "--abi=none",
        *(f"--platform=manylinux_2_{minor}_{platform.machine()}" for minor in range(41, 16, -1)),
        f"--platform=manylinux2014_{platform.machine()}",
        "--require-hashes", "--target", library, "-r", listed)  # fmt: skip
    return library
