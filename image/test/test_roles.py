"""The roles in a root file system of the Pi's: the second time there is nothing left to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from appliance import __version__
from image import foreign, roles, root
from image.kernels import FLAVOURS
from image.plan import ROOT, Plan, cache_folder, commit_time_s

pytestmark = pytest.mark.timeout(1800)  # emulated, where this machine is none like the Pi


def test_the_second_time_nothing_changes(
    built: Path, signing_key: Path, image_scratch: Path
) -> None:
    work = image_scratch / "roles"
    plan = Plan(__version__, FLAVOURS["debian"], signing_key, work, cache_folder(), work,
                commit_time_s())  # fmt: skip
    plan.logs.mkdir(parents=True)
    foreign.enable()
    tree = work / "tree"
    root.unpack(root.make(plan), tree)
    release = next((built.parent / "../dist").glob("*.release"))
    first = roles.apply(plan, tree, release)
    again = roles.apply(plan, tree, release)
    print(f"\n   first: {first}\n   again: {again}")
    assert "failed=0" in first
    assert "changed=0 " in again
    assert (tree / "opt/interlude/current/bin/interlude").exists()
    assert (
        ROOT.joinpath("system/usr/lib/systemd/system/interlude.service").read_bytes()
        == (tree / "usr/lib/systemd/system/interlude.service").read_bytes()
    )
