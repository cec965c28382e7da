"""Runs commands in a chroot of the Pi's root file system, with /proc, /run, /tmp and /dev mounted.

The mounts are in a mount namespace of their own, so none remains when the command ends.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path

# New, empty file systems: a command reaches no device of this machine and not its systemd.
_MOUNTS = (
    "mount -t proc proc {root}/proc",
    "mount -t tmpfs -o mode=0755 run {root}/run",
    "mount -t tmpfs -o mode=1777 tmp {root}/tmp",
    "mount -t tmpfs -o mode=0755 dev {root}/dev",
)
# Python's multiprocessing needs the first, `sshd -t` the second.
_FOLDERS = ("dev/shm", "run/sshd")
_DEVICES = ("null", "zero", "full", "random", "urandom", "tty")


def entered(root: Path, binds: Mapping[Path, str] | None = None) -> str:
    """A shell script that mounts everything below `root`; `binds`: path here → path there."""
    lines = ["set -e", *(line.format(root=shlex.quote(str(root))) for line in _MOUNTS)]
    for name in _DEVICES:
        target = shlex.quote(f"{root}/dev/{name}")
        lines += [f": >{target}", f"mount --bind /dev/{name} {target}"]
    lines += [f"ln -s /proc/self/fd {root}/dev/fd", *(f"mkdir {root}/{name}" for name in _FOLDERS)]
    for here, there in (binds or {}).items():
        target = shlex.quote(f"{root}{there}")
        create = f"mkdir -p {target}" if here.is_dir() else f": >{target}"
        lines += [create, f"mount --bind {shlex.quote(str(here))} {target}"]
    return "\n".join(lines) + "\n"


def command(
    root: Path, words: list[str], binds: Mapping[Path, str] | None = None
) -> tuple[str, ...]:
    """The command line that runs `words` in the chroot `root`."""
    command_line = " ".join(shlex.quote(word) for word in words)
    script = f"{entered(root, binds)}exec chroot {shlex.quote(str(root))} {command_line}"
    return ("unshare", "--mount", "--propagation", "private", "sh", "-c", script)
