"""A fleet for tests: boxes in containers, an inventory, and Ansible over ssh."""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from image.test import boxes, tiny
from image.test.boxes import Box

ROOT = Path(__file__).resolve().parents[2]
PATIENCE_S = 240.0  # for what takes seconds on a machine that has nothing else to do


@dataclass
class Fleet:
    """Three boxes, an inventory and two keys: the maker's, and an unknown one."""

    folder: Path
    boxes: list[Box]
    key: Path
    stranger: Path

    def release(
        self,
        version: str,
        kind: str = "good",
        key: Path | None = None,
        more: Mapping[str, bytes] | None = None,
    ) -> Path:
        into = self.folder / "made"
        into.mkdir(exist_ok=True)
        return tiny.make(
            into, key or self.key, version, kind, machine=platform.machine(), python="any",
            more=more,
        )  # fmt: skip

    def play(self, book: str, *words: str, inventory: Path | None = None) -> Played:
        began = time.monotonic()
        done = subprocess.run(
            ["ansible-playbook", "-i", inventory or self.folder / "hosts.json", book, *words],
            cwd=ROOT / "ansible",
            env={**os.environ, "LC_ALL": "C.UTF-8", "ANSIBLE_NOCOLOR": "1"},
            capture_output=True, text=True, check=False, timeout=600, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        played = Played(done.returncode, done.stdout + done.stderr, time.monotonic() - began)
        print(f"{book} {' '.join(words)}: rc {played.code}, {played.took_s:.1f} s")
        return played

    def update(self, file: Path, *words: str) -> Played:
        return self.play("update.yml", "-e", f"interlude_release_file={file}", *words)

    def kept(self) -> list[str]:
        """The version that each box keeps, and runs: `a/b` where the two differ."""
        found = []
        for box in self.boxes:
            said = json.loads(box.ssh("interlude release status --json").stdout)
            same = said["kept"] == said["running"]
            found.append(said["kept"] if same else f"{said['kept']}/{said['running']}")
        return found


@dataclass
class Played:
    """What came of a playbook."""

    code: int
    said: str
    took_s: float

    def changed(self) -> dict[str, int]:
        return {
            box: int(n)
            for box, n in re.findall(r"^([\w-]+)\s+: ok=\d+\s+changed=(\d+)", self.said, re.M)
        }

    def touched(self) -> set[str]:
        return set(re.findall(r"^([\w-]+)\s+: ok=", self.said, re.MULTILINE))


@contextmanager
def full_disk(box: Box) -> Iterator[None]:
    """What it has of releases, on a disk of 40 MiB: less than what is to stay free."""
    box.ssh(
        "mkdir -p /mnt/small; mount -t tmpfs -o size=40m none /mnt/small;"
        " cp -a /opt/interlude/. /mnt/small/; mount --bind /mnt/small /opt/interlude"
    )
    try:
        yield
    finally:
        box.ssh("umount /opt/interlude; umount /mnt/small; systemctl restart interlude")


@contextmanager
def scratch() -> Iterator[Path]:
    """Room for boxes; in memory where that is ample."""
    assert os.geteuid() == 0, "boxes in containers need root"
    memory = Path("/dev/shm")  # noqa: S108  # a file system without a disk: overlays there are quick
    ample = memory.is_dir() and shutil.disk_usage(memory).free > 2 << 30
    folder = Path(tempfile.mkdtemp(prefix="interlude-fleet-", dir=memory if ample else None))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def started(
    folder: Path, count: int, make: Callable[..., Box] = Box, signers: tuple[Path, ...] = ()
) -> Iterator[Fleet]:
    """So many boxes that run, and nothing of ours on them yet.

    `make`: what they are. `signers`: whose keys they trust beside the maker's.
    """
    keys = [folder / name for name in ("door", "maker", "stranger")]
    for key in keys:
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
    lower = boxes.root_file_system(folder)
    made = [make(f"box{number}", number, lower, folder, keys[0]) for number in range(1, count + 1)]
    for box in made:  # of a run that was killed
        box.remove()
    boxes.remove_bridge()
    boxes.make_bridge()
    try:
        for box in made:
            box.make()
            box.boot()
        hosts = {box.name: {"ansible_host": box.address} for box in made}
        shared = {
            "ansible_user": "root",
            "ansible_ssh_private_key_file": str(keys[0]),
            "ansible_ssh_common_args": "-o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null"
            " -o ConnectTimeout=5",
            "interlude_settings": {"mode": "open"},
            "interlude_secrets": {"mqtt-password": "secret"},
            "interlude_signers": [
                key.with_suffix(".pub").read_text().strip() for key in (keys[1], *signers)
            ],
        }
        inventory = {"boxes": {"hosts": hosts, "vars": shared}}
        (folder / "hosts.json").write_text(json.dumps(inventory))
        yield Fleet(folder, made, keys[1], keys[2])
    finally:
        for box in made:
            box.remove()
        boxes.remove_bridge()
