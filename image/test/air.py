"""A virtual machine with a Wi-Fi of the kernel's simulator (mac80211_hwsim): Debian with
NetworkManager, wpa_supplicant, dnsmasq and avahi as the card has them, our units, a tiny release.

Three radios share the air: the box's, a router's and a phone's, the latter two in network name
spaces. Not the Pi: this machine's kind of kernel, no firmware of a radio. What is tried is how
NetworkManager and we get on. Neither KVM nor a loop device is needed.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

from appliance.provision.apply_seed import ProvisionTarget, apply
from appliance.provision.seed import Seed, WifiNetwork
from image.plan import NotBuilt
from image.ramdisk import lay_modules, needed
from image.test import boxes, guest, tiny
from image.tools import ask

NETWORKING = ("network-manager", "wpasupplicant", "dnsmasq-base", "iw", "wireless-regdb", "kmod")
AT_FIRST = ("virtio_pci", "virtio_blk", "crc32c_generic", "ext4")
# What of the kernel's modules is laid onto the disk: radios, packets, ciphers.
PARTS = ("net", "crypto", "arch/x86/crypto", "arch/arm64/crypto", "lib",
         "drivers/net/wireless/mac80211_hwsim.ko", "drivers/net/wireless/virtual")  # fmt: skip
ENABLED = ("interlude-setup.service", "interlude-page.path", "owner.service", "air.service")
# What set-up, its page and its sentences import, and what findings are shown with.
NEEDED = ("msgspec", "yaml", "h11", "jinja2", "markupsafe", "fluent", "typing_extensions", "rich",
          "pygments", "markdown_it", "mdurl")  # fmt: skip
ROUTER, PASSWORD, WRONG = "Home", "correct horse", "wrong horse"
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
AIR = f"""#!/bin/sh
# The router, and the phone's radio apart: before NetworkManager takes them for the box's.
set -e
modprobe mac80211_hwsim radios=3
for name in router phone; do ip netns add $name; ip netns exec $name ip link set lo up; done
iw phy phy1 set netns name router
iw phy phy2 set netns name phone
in="ip netns exec router"
$in ip addr add 192.168.77.1/24 dev wlan1
$in ip link set wlan1 up
cat >/run/router.conf <<END
network={{
 ssid="{ROUTER}"
 mode=2
 frequency=2437
 key_mgmt=WPA-PSK
 proto=RSN
 pairwise=CCMP
 psk="{PASSWORD}"
}}
END
$in wpa_supplicant -B -i wlan1 -c /run/router.conf
$in dnsmasq --conf-file=/dev/null --port=0 --interface=wlan1 --bind-interfaces --pid-file \\
  --dhcp-leasefile=/run/router.leases --dhcp-range=192.168.77.10,192.168.77.20,60m
"""
AIR_UNIT = """[Unit]
Before=NetworkManager.service
[Service]
Type=forking
RemainAfterExit=yes
ExecStart=/usr/lib/air
[Install]
WantedBy=multi-user.target
"""
OWNER_UNIT = """[Unit]
After=NetworkManager.service
[Service]
Environment=PYTHONPATH=/opt/interlude/current/lib
ExecStart=/usr/bin/python3 /usr/lib/owner.py
ExecStopPost=-/usr/bin/journalctl -b --no-pager -o short-monotonic -n 400
ExecStopPost=/usr/bin/systemctl poweroff --force --force
StandardOutput=tty
StandardError=tty
TTYPath=/dev/console
[Install]
WantedBy=multi-user.target
"""
HERE = Path(__file__).parent


def run(scratch: Path) -> str:
    """What the machine's console says, from its start to its end. Raises NotBuilt unless the owner
    (owner.py) came to an end."""
    machine = guest.kind()
    kernel = guest.kernel(machine)
    disk = _disk(kernel, scratch)
    console = scratch / "console.log"
    subprocess.run(
        [
            # Time is the number of executed instructions: time-outs are the guest's own, however
            # busy this machine is, and nobody waits for a pause (emulator.py says more).
            "setpriv", "--pdeathsig", "KILL",
            machine.qemu, *machine.machine, "-accel", "tcg", "-smp", "1", "-m", "1024",
            "-icount", "shift=0,sleep=off", "-rtc", "clock=vm",
            "-nodefaults", "-no-reboot", "-display", "none", "-monitor", "none",
            "-serial", f"file:{console}", "-device", "virtio-rng-pci",
            "-kernel", kernel / "kernel", "-initrd", _initramfs(kernel, scratch),
            "-append", f"console={machine.console} quiet panic=-1 net.ifnames=0 interlude.slot=a"
            " systemd.show_status=0 systemd.getty_auto=0 systemd.journald.forward_to_console=1"
            " systemd.journald.max_level_console=info",
            "-drive", f"if=none,id=disk,file={disk},format=raw,cache=unsafe",
            "-device", "virtio-blk-pci,drive=disk",
        ],
        stdin=subprocess.DEVNULL, capture_output=True, check=True, timeout=TIMEOUT_S,
    )  # fmt: skip
    said = console.read_text(errors="replace")
    if DONE not in said:
        telling = re.compile(r"^FACTS|interlude\[|interlude-setup|Traceback|Error|never said")
        told = [row for row in said.splitlines() if telling.search(row)]
        raise NotBuilt(f"The machine with radios failed: {told} {said[-6000:]}")
    return said


def _disk(kernel: Path, scratch: Path) -> Path:
    tree = boxes.root_file_system(scratch, NETWORKING)
    shutil.copytree(boxes.ROOT / "system", tree, dirs_exist_ok=True, symlinks=True)
    for part in ("opt/interlude/releases", "data/keep", "etc/interlude"):
        (tree / part).mkdir(parents=True, exist_ok=True)
    release = tiny.plant(scratch / "release", "good", needed=NEEDED)
    shutil.move(release, tree / "opt/interlude/releases" / VERSION)
    (tree / "opt/interlude/current").symlink_to(f"releases/{VERSION}")
    # As the seed on a card leaves it.
    apply(Seed(wifi=WifiNetwork(ROUTER.encode(), WRONG)), ProvisionTarget(tree, tree / "data/keep"))
    for name, text, mode in (
        ("usr/lib/air", AIR, 0o755),
        ("etc/systemd/system/air.service", AIR_UNIT, 0o644),
        ("etc/systemd/system/owner.service", OWNER_UNIT, 0o644),
        ("etc/hostname", "interlude\n", 0o644),
        ("etc/machine-id", "", 0o644),
        ("etc/fstab", "", 0o644),
    ):
        (tree / name).write_text(text)
        (tree / name).chmod(mode)
    for name in ("owner.py", "phone.py"):
        shutil.copy(HERE / name, tree / "usr/lib" / name)
    ask("Users cannot be made", "systemd-sysusers", f"--root={tree}",
        boxes.ROOT / "system/usr/lib/sysusers.d/interlude.conf")  # fmt: skip
    ask("Keys for ssh cannot be made", "ssh-keygen", "-A", "-f", tree)
    ask("Units cannot be enabled", "systemctl", f"--root={tree}", "enable", *ENABLED)
    version = next((kernel / "lib/modules").iterdir()).name
    _modules(kernel / "lib/modules" / version, tree / "usr/lib/modules" / version)
    ask("The modules cannot be listed", "depmod", "--basedir", tree / "usr", version)
    disk = scratch / "disk.img"
    with disk.open("wb") as file:
        file.truncate(2 << 30)
    ask("The disk cannot be made", "mke2fs", "-q", "-t", "ext4", "-d", tree, disk)
    return disk


def _modules(of: Path, to: Path) -> None:
    for part in PARTS:
        source = of / "kernel" / part
        if source.is_dir():
            shutil.copytree(source, to / "kernel" / part)
        elif source.exists():
            (to / "kernel" / part).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, to / "kernel" / part)
    for listed in of.glob("modules.*"):
        if not listed.name.endswith(".bin"):
            shutil.copy(listed, to / listed.name)


def _initramfs(kernel: Path, scratch: Path) -> Path:
    tree = scratch / "initramfs"
    for name in ("bin", "lib"):
        (tree / name).mkdir(parents=True)
    shutil.copy(str(shutil.which("busybox")), tree / "bin/busybox")
    (tree / "init").write_text(INIT)
    (tree / "init").chmod(0o755)
    version = next((kernel / "lib/modules").iterdir()).name
    lay_modules(tree, needed(kernel, version, AT_FIRST))
    packed = scratch / "initramfs.cpio"
    listed = "\n".join(str(path.relative_to(tree)) for path in sorted(tree.rglob("*")))
    with packed.open("wb") as into:
        subprocess.run(["cpio", "--create", "--format=newc", "--owner=0:0", "--quiet"], cwd=tree,
                       input=listed.encode(), stdout=into, check=True)  # fmt: skip
    return packed
