"""Boxes for tests: systemd in containers (systemd-nspawn), each with its own network namespace.

In: a root file system of Debian, made once by mmdebstrap and cached. Unlike a Pi they have no
kernel of their own, no sound, no GPIO, and no limits of processor and memory.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from image.root import ALONE

ROOT = Path(__file__).resolve().parents[2]
LANE = int(os.environ.get("INTERLUDE_LANE", "0"))  # 0 to 9, a different one for each parallel run
BRIDGE = f"interlude{LANE}"
NETWORK = f"10.213.{7 + LANE}"
# The Debian suite with this machine's Python, so that compiled modules of a tiny release run there.
SUITES = {(3, 11): "bookworm", (3, 13): "trixie"}
BASE = ("systemd-sysv", "udev", "dbus", "iproute2", "procps")
# Capabilities that nspawn drops and a real box has: real-time scheduling and locked memory.
CAPABILITIES = "CAP_SYS_NICE,CAP_IPC_LOCK,CAP_SYS_RESOURCE"
BOOT_S = 240.0  # limit for a boot, which takes 2 s on an idle machine
_SSH = ("-q", "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null",
        "-o", "ConnectTimeout=5", "-o", "BatchMode=yes")  # fmt: skip


def packages(more: tuple[str, ...] = ()) -> list[str]:
    """The box's own list of packages, those that a container needs, and `more`."""
    lines = (ROOT / "image/packages.txt").read_text().splitlines()
    return [*BASE, *more, *(line.strip() for line in lines if line.strip() and line[0] != "#")]


def root_file_system(scratch: Path, more: tuple[str, ...] = (), suite: str = "") -> Path:
    """A folder with Debian, unpacked from the cache or made now, which takes half a minute.

    more   packages that a test needs beside a box's own
    suite  Debian's suite; "": the one with this machine's Python
    """
    wanted = packages(more)
    suite = suite or SUITES.get(sys.version_info[:2], "")
    if not suite:
        raise RuntimeError(f"no Debian is known with Python {platform.python_version()}")
    digest = hashlib.sha256("\n".join((suite, *wanted)).encode()).hexdigest()[:12]
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    cache = base / "interlude/rootfs" / f"{suite}-{digest}.tar"
    if not cache.is_file():
        cache.parent.mkdir(parents=True, exist_ok=True)
        fresh = cache.with_suffix(".part")
        _run(*ALONE, "mmdebstrap", "--quiet", "--variant=minbase", "--format=tar",
             f"--include={','.join(wanted)}", suite, fresh,
             environment={"TMPDIR": str(scratch)})  # fmt: skip
        fresh.rename(cache)
    folder = scratch / "lower"
    folder.mkdir()
    _run("tar", "-C", folder, "-xf", cache, "--exclude=./dev/*")
    for key in (folder / "etc/ssh").glob("ssh_host_*"):
        key.unlink()
    return folder


@dataclass
class Box:
    """One container."""

    name: str
    number: int
    lower: Path
    scratch: Path
    key: Path
    options: tuple[str, ...] = ()  # of systemd-nspawn
    told: tuple[str, ...] = ()  # arguments of systemd in it, in place of a kernel command line
    _runs: subprocess.Popen[bytes] | None = field(default=None, init=False)

    @property
    def address(self) -> str:
        return f"{NETWORK}.{10 + self.number}"

    @property
    def place(self) -> str:
        """The name of its network namespace, control group and container on this machine."""
        return f"{self.name}-lane{LANE}" if LANE else self.name

    @property
    def wire(self) -> str:
        return f"il{LANE}x{self.number}" if LANE else f"il{self.number}"

    @property
    def root(self) -> Path:
        return self.scratch / self.name / "root"

    def make(self) -> None:
        """Mount its file system as an overlay over `lower`, and connect its network."""
        place = self.scratch / self.name
        for part in ("upper", "work", "root"):
            (place / part).mkdir(parents=True)
        layers = f"lowerdir={self.lower},upperdir={place}/upper,workdir={place}/work"
        _run("mount", "-t", "overlay", "overlay", "-o", layers, self.root)
        access = self.root / "root/.ssh"
        access.mkdir(mode=0o700, exist_ok=True)
        shutil.copy(self.key.with_suffix(".pub"), access / "authorized_keys")
        (self.root / "etc/hostname").write_text(f"{self.name}\n")
        (self.root / "etc/machine-id").write_text("")
        _run("ssh-keygen", "-A", "-f", self.root)
        _run("ip", "netns", "add", self.place)
        _run("ip", "link", "add", self.wire, "type", "veth", "peer", "name", "host0",
             "netns", self.place)  # fmt: skip
        _run("ip", "link", "set", self.wire, "master", BRIDGE, "up")
        for words in (f"addr add {self.address}/24 dev host0", "link set host0 up",
                      "link set lo up"):  # fmt: skip
            _run("ip", "-n", self.place, *words.split())

    @property
    def runs(self) -> int:
        """The process id of systemd-nspawn; its child is the box's first process."""
        assert self._runs is not None
        return self._runs.pid

    def boot(self) -> None:
        """Start it, and wait until ssh works."""
        runs = self.start()
        limit = time.monotonic() + BOOT_S
        while self.ssh("true").returncode:
            if time.monotonic() > limit or runs.poll() is not None:
                raise RuntimeError(f"{self.name} does not come up; see its console.log")
            time.sleep(0.3)

    def start(self) -> subprocess.Popen[bytes]:
        control = f"/sys/fs/cgroup/{self.place}"
        start = (
            f"umount -l /sys/fs/cgroup 2>/dev/null; mount -t cgroup2 cgroup2 /sys/fs/cgroup"
            f" && mkdir -p {control} && echo $$ >{control}/cgroup.procs"
            f" && exec systemd-nspawn --quiet --register=no --keep-unit -D {self.root}"
            f" --machine={self.place} --network-namespace-path=/run/netns/{self.place}"
            f" --capability={CAPABILITIES} {' '.join(self.options)}"
            f" --console=pipe --boot {' '.join(self.told)}"
        )
        log = (self.scratch / self.name / "console.log").open("ab")
        self._runs = subprocess.Popen(
            # The kernel kills the box when the test process ends, however it ends.
            ["setpriv", "--pdeathsig", "KILL", "unshare", "-m", "--propagation", "slave",
             "sh", "-c", start],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
            env={
                **os.environ,
                "SYSTEMD_NSPAWN_UNIFIED_HIERARCHY": "1",
                # The box has its own network namespace, so its sysctl.d may set the first
                # unprivileged port there.
                "SYSTEMD_NSPAWN_API_VFS_WRITABLE": "network",
            },
        )  # fmt: skip
        log.close()
        return self._runs

    def cut_power(self) -> None:
        """Kill all of its processes at once; its memory is lost."""
        if self._runs is None:
            return
        nspawn = self._runs.pid
        children = Path(f"/proc/{nspawn}/task/{nspawn}/children")
        for first in children.read_text().split() if children.exists() else ():
            os.kill(int(first), signal.SIGKILL)  # the kernel kills the rest of its PID namespace
        self._runs.wait()
        self._runs = None

    def remove(self) -> None:
        self.cut_power()
        # The link is deleted by name: the namespace exists until its last process has ended.
        for words in (["link", "del", self.wire], ["netns", "del", self.place]):
            subprocess.run(["ip", *words], capture_output=True, check=False)
        subprocess.run(["umount", "-l", str(self.root)], capture_output=True, check=False)

    def ssh(self, command: str, timeout_s: float = 120) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["ssh", *_SSH, "-i", self.key, f"root@{self.address}", command],
            capture_output=True, text=True, check=False, timeout=timeout_s,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip


def make_bridge() -> None:
    _run("ip", "link", "add", BRIDGE, "type", "bridge")
    _run("ip", "addr", "add", f"{NETWORK}.1/24", "dev", BRIDGE)
    _run("ip", "link", "set", BRIDGE, "up")


def remove_bridge() -> None:
    subprocess.run(["ip", "link", "del", BRIDGE], capture_output=True, check=False)


def _run(*command: str | Path, environment: dict[str, str] | None = None) -> None:
    done = subprocess.run(
        command,
        env={**os.environ, **(environment or {})},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, command))}: {done.stderr.strip()[-500:]}")
