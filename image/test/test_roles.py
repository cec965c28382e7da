"""The roles in a root file system of this machine's architecture, and of the Pi's: the second run
changes nothing. The release is a tiny one; the real one is not tested here."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from image import foreign, freight, roles, root
from image.kernels import FLAVOURS
from image.plan import MACHINE, ROOT, Plan, cache_folder, commit_time_s
from image.test import boxes, tiny

pytestmark = pytest.mark.timeout(1800)  # emulated, unless this machine is aarch64

VERSION = "0.1.0"
SIGNERS = 'release@interlude namespaces="interlude-release" ssh-ed25519 AAAA\n'
UNIT = "usr/lib/systemd/system/interlude.service"


def ours(plan: Plan, scratch: Path) -> Path:
    """Debian as in the containers, with ssh host keys, which `sshd -t` needs."""
    tree = boxes.root_file_system(scratch)
    subprocess.run(["ssh-keygen", "-A", "-f", tree], check=True, capture_output=True)
    return tree


def the_pis(plan: Plan, scratch: Path) -> Path:
    """The root file system of the card; its programs are emulated."""
    foreign.enable()
    tree = scratch / "tree"
    root.unpack(root.make(plan), tree)
    return tree


def for_the_pi(scratch: Path) -> Path:
    """The packages that a tiny release needs, as published for the Pi's Python."""
    wanted = scratch / "wanted.txt"
    wanted.write_text(tiny.locked(tiny.NEEDED, "requirements.lock"))
    library = scratch / "packages"
    subprocess.run([*freight.PIP, "--require-hashes", "--target", library, "-r", wanted],
                   check=True, capture_output=True)  # fmt: skip
    return library


@pytest.mark.parametrize("debian", [ours, the_pis], ids=["native", "emulated"])
def test_the_second_time_nothing_changes(
    debian: Callable[[Plan, Path], Path], image_scratch: Path
) -> None:
    scratch = image_scratch / f"roles-{'emulated' if debian is the_pis else 'native'}"
    scratch.mkdir()
    plan = Plan(VERSION, FLAVOURS["debian"], SIGNERS, scratch, cache_folder(), scratch,
                commit_time_s())  # fmt: skip
    plan.logs.mkdir(parents=True)
    tree = debian(plan, scratch)
    emulated = debian is the_pis
    release = tiny.make(
        scratch, None, VERSION, machine=MACHINE if emulated else "any", python="any",
        packages=for_the_pi(scratch) if emulated else None,
    )  # fmt: skip
    first = roles.apply(plan, tree, release)
    again = roles.apply(plan, tree, release)
    print(f"\n   first: {first}\n   again: {again}")
    assert "failed=0" in first
    assert "changed=0 " in again
    assert (tree / "opt/interlude/current/bin/interlude").exists()
    roles.trust(tree, SIGNERS)
    assert (tree / "etc/interlude/allowed_signers").read_text() == SIGNERS
    assert list(tree.glob("opt/interlude/releases/*/release.json*")) == [
        tree / f"opt/interlude/releases/{VERSION}/release.json"
    ]
    assert ROOT.joinpath("system", UNIT).read_bytes() == (tree / UNIT).read_bytes()
