"""mmdebstrap fails half-way: its temporary folder is removed, and no file of this machine.

mmdebstrap itself is not run: a script makes the same mounts of this machine's folders.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from image import root
from image.kernels import FLAVOURS
from image.plan import NotBuilt, Plan

STAND_IN = """#!/bin/sh
mkdir -p "$TMPDIR/root/dev/shm" && mount --bind {shared} "$TMPDIR/root/dev/shm" || exit 2
test -e "$TMPDIR/root/dev/shm/ring" || exit 3
echo "E: stopped half-way"
exit 25
"""


@pytest.fixture
def plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Plan:
    folders = {name: tmp_path / name for name in ("work", "cache", "into", "bin")}
    for folder in folders.values():
        folder.mkdir()
    program = folders["bin"] / "mmdebstrap"
    shared = tmp_path / "shared"
    shared.mkdir()
    (shared / "ring").write_bytes(b"of another program")
    program.write_text(STAND_IN.format(shared=shared))
    program.chmod(0o755)
    monkeypatch.setenv("INTERLUDE_DEBIAN", "http://deb.debian.org/debian")
    monkeypatch.setenv("PATH", f"{folders['bin']}:{os.environ['PATH']}")
    return Plan("0.0.0", FLAVOURS["debian"], "", folders["work"], folders["cache"],
                folders["into"], 0)  # fmt: skip


def test_what_was_mounted_there_is_not_cleared_with_it(plan: Plan, tmp_path: Path) -> None:
    with pytest.raises(NotBuilt, match="Debian cannot be installed"):
        root.make(plan)
    assert "stopped half-way" in (plan.logs / "mmdebstrap.log").read_text()
    assert (tmp_path / "shared/ring").read_bytes() == b"of another program"
    assert str(tmp_path) not in Path("/proc/self/mounts").read_text()
