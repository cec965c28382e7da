"""A virtual machine of this machine's architecture: Debian's kernel, this machine's file system as
its read-only root, and one disk whose writes QEMU logs.

It has neither the Pi's kernel nor the box's root: it runs our code on a real ext4 and a real block
layer. The initramfs is a static busybox, a few modules and one script. Neither KVM nor a loop
device is needed.
"""

from __future__ import annotations

import platform
import shlex
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from image.plan import NotBuilt, cache_folder, once, remove
from image.ramdisk import lay_modules, needed
from image.tools import ask

MODULES = ("virtio_pci", "virtio_blk", "9pnet_virtio", "9p", "crc32c_generic", "ext4")
TIMEOUT_S = 900.0  # of a complete run, which takes one or two minutes on a busy machine
DONE = "the guest has done it all"


@dataclass(frozen=True)
class Kind:
    """QEMU's options for an architecture, and the name of Debian's kernel package for it."""

    qemu: str
    machine: tuple[str, ...]
    console: str
    debian: str


_PC, _ARM = ("-M", "q35", "-cpu", "max"), ("-M", "virt", "-cpu", "cortex-a76")
KINDS = {
    "x86_64": Kind("qemu-system-x86_64", _PC, "ttyS0", "amd64"),
    "aarch64": Kind("qemu-system-aarch64", _ARM, "ttyAMA0", "arm64"),  # not run yet
}
INIT = f"""#!/bin/busybox sh
export PATH=/bin
/bin/busybox mkdir -p /proc /sys /dev /host
/bin/busybox --install -s /bin
mount -t devtmpfs dev /dev
mount -t proc proc /proc
mount -t sysfs sys /sys
while read -r module; do insmod "$module"; done </modules
mount -t 9p -o ro,trans=virtio,version=9p2000.L,msize=512000,cache=loose host /host
mount -t tmpfs run /host/run
for each in dev proc sys; do mount -o bind /$each /host/$each; done
cp /run.sh /host/run/run.sh
chroot /host /bin/sh /run/run.sh </dev/null && echo "{DONE}"
poweroff -f
"""


def run(command: list[str], disk: Path, log: Path, scratch: Path) -> str:
    """Run `command` (of this file system, as root, in /run) with `disk` as /dev/vda.

    QEMU logs the writes to the disk in `log`. Returns the console's output. Raises NotBuilt unless
    the command succeeds.
    """
    machine = kind()
    at = kernel(machine)
    start = {"run.sh": f"cd /run && exec {shlex.join(command)}\n"}
    console = scratch / "console.log"
    log.write_bytes(b"")
    done = subprocess.run(
        [
            machine.qemu, *machine.machine, "-accel", "tcg", "-m", "768", "-nodefaults",
            "-no-reboot", "-display", "none", "-monitor", "none", "-serial", f"file:{console}",
            "-kernel", at / "kernel", "-initrd",
            initramfs(at, scratch, INIT, MODULES, start),
            "-append", f"console={machine.console} quiet panic=-1",
            "-virtfs",
            "local,path=/,mount_tag=host,security_model=none,readonly=on,multidevs=remap",
            "-blockdev", f"driver=file,node-name=file,filename={disk}",
            "-blockdev", "driver=raw,node-name=raw,file=file",
            "-blockdev", f"driver=file,node-name=logfile,filename={log}",
            "-blockdev", "driver=raw,node-name=lograw,file=logfile",
            "-blockdev", "driver=blklogwrites,node-name=noted,file=raw,log=lograw,log-append=off",
            "-device", "virtio-blk-pci,drive=noted,discard=off,write-zeroes=off",
        ],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=TIMEOUT_S,
    )  # fmt: skip
    said = console.read_text(errors="replace") if console.exists() else ""
    if done.returncode or DONE not in said:
        raise NotBuilt(f"The virtual machine failed: {done.stderr.strip()} {said[-2000:].strip()}")
    return said


def kind() -> Kind:
    found = KINDS.get(platform.machine())
    if found is None:
        raise NotBuilt(f"No virtual machine is known for {platform.machine()}.")
    if shutil.which(found.qemu) is None:
        raise NotBuilt(f"{found.qemu} is missing.", "`make test-image` installs it.")
    return found


def kernel(machine: Kind) -> Path:
    """A folder with `kernel` and `lib/modules` of this machine's Debian, downloaded once."""
    name = _named(f"linux-image-{machine.debian}")

    def write(path: Path) -> None:
        raw = path.with_name(".guest.raw")
        shutil.rmtree(raw, ignore_errors=True)
        raw.mkdir()
        words = ["apt-get", "-qq", "download", name]
        if subprocess.run(words, cwd=raw, capture_output=True, check=False).returncode:
            _look_again()
            done = subprocess.run(words, cwd=raw, capture_output=True, text=True, check=False)
            if done.returncode:
                raise NotBuilt(f"{name} cannot be downloaded: {done.stderr.strip()}")
        ask(f"{name} cannot be unpacked", "dpkg-deb", "--extract", *raw.glob("*.deb"), raw)
        modules = next(iter([*raw.glob("usr/lib/modules/*"), *raw.glob("lib/modules/*")]))
        kernel = next(iter([*raw.glob("boot/vmlinuz-*"), *modules.glob("vmlinuz")]))
        (path / "lib/modules").mkdir(parents=True)
        shutil.copy(kernel, path / "kernel")
        shutil.copytree(modules, path / "lib/modules" / modules.name, symlinks=True)
        ask("The modules cannot be listed", "depmod", "--basedir", path, modules.name)
        remove(raw)

    return once(cache_folder(), "kernel-guest", [name], write)


def _named(package: str) -> str:
    """The package with the kernel itself, on which the metapackage `package` depends."""
    for again in (False, True):
        if again:
            _look_again()
        done = subprocess.run(["apt-cache", "show", "--no-all-versions", package],
                              capture_output=True, text=True, check=False)  # fmt: skip
        rows = [row for row in done.stdout.splitlines() if row.startswith("Depends: ")]
        if rows:
            return rows[0].split()[1].rstrip(",")
    raise NotBuilt(f"{package} leads to no kernel.", "Is this a Debian?")


def _look_again() -> None:
    """Update apt's package lists, which may be missing or old."""
    ask("Debian's lists cannot be read", "apt-get", "-qq", "update")


def initramfs(
    kernel: Path, scratch: Path, init: str, modules: tuple[str, ...], files: dict[str, str]
) -> Path:
    """Make an initramfs with a static busybox, the modules, `files` by name and the script `init`.

    Raises NotBuilt.
    """
    busybox = shutil.which("busybox")
    linked = busybox and subprocess.run(["ldd", busybox], capture_output=True, check=False)
    if not busybox or not linked or linked.returncode == 0:
        raise NotBuilt("A static busybox is missing.", "apt-get install busybox-static")
    tree = scratch / "initramfs"
    for name in ("bin", "lib"):
        (tree / name).mkdir(parents=True)
    shutil.copy(busybox, tree / "bin/busybox")
    for name, text in {"init": init, **files}.items():
        (tree / name).write_text(text)
    (tree / "init").chmod(0o755)
    version = next((kernel / "lib/modules").iterdir()).name
    lay_modules(tree, needed(kernel, version, modules))
    packed = scratch / "initramfs.cpio"
    listed = "\n".join(str(path.relative_to(tree)) for path in sorted(tree.rglob("*")))
    with packed.open("wb") as into:
        subprocess.run(["cpio", "--create", "--format=newc", "--owner=0:0", "--quiet"], cwd=tree,
                       input=listed.encode(), stdout=into, check=True)  # fmt: skip
    return packed
