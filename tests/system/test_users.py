"""The users of a box as systemd creates them, with the ids of files on the data partition."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from appliance.update.signature import VERIFIERS

pytestmark = pytest.mark.process

SYSTEM = Path(__file__).parents[2] / "system/usr/lib"
FILE = SYSTEM / "sysusers.d/interlude.conf"
NUMBERS = {"interlude": 710, "interlude-log": 711, "interlude-setup": 712, "interlude-model": 713,
           "interlude-pull": 714, "interlude-verify": 716}  # fmt: skip  # never another again


def users(root: Path) -> dict[str, int]:
    """The users that systemd creates from our file in the file system `root`."""
    (root / "etc").mkdir(exist_ok=True)
    done = subprocess.run(
        ["systemd-sysusers", f"--root={root}", FILE], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    rows = [row.split(":") for row in (root / "etc/passwd").read_text().splitlines()]
    assert all(row[2] == row[3] for row in rows if row[0] in NUMBERS)  # the group has the same id
    return {row[0]: int(row[2]) for row in rows}


def test_every_system_assigns_the_same_ids(tmp_path: Path) -> None:
    assert users(tmp_path) == NUMBERS


def test_a_machine_on_which_an_id_is_taken_assigns_another_one(tmp_path: Path) -> None:
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc/passwd").write_text("somebody:x:710:710::/:/bin/sh\n")
    (tmp_path / "etc/group").write_text("somebody:x:710:\n")
    found = users(tmp_path)
    assert found["interlude"] not in {0, 710}
    assert found["interlude-log"] == 711


def test_one_group_determines_who_may_hand_over_an_archive(tmp_path: Path) -> None:
    users(tmp_path)
    rows = [row.split(":") for row in (tmp_path / "etc/group").read_text().splitlines()]
    groups = {row[0]: (int(row[2]), set(filter(None, row[3].split(",")))) for row in rows}
    assert groups["interlude-incoming"] == (715, {"interlude", "interlude-pull"})
    for name in NUMBERS:  # no user is in the group of another one
        assert groups[name][1] == set()


def test_the_user_that_verifies_signatures_exists_on_every_box() -> None:
    assert VERIFIERS[0] in NUMBERS


@pytest.mark.parametrize("unit", ["interlude-update.service", "interlude-system.service"])
def test_a_unit_that_gets_archives_of_strangers_may_verify_them_as_that_user(unit: str) -> None:
    """Without these rights ssh-keygen would run as root."""
    text = (SYSTEM / "systemd/system" / unit).read_text()
    (rights,) = re.findall(r"^CapabilityBoundingSet=(.*)$", text, re.MULTILINE)
    assert {"CAP_SETUID", "CAP_SETGID"} <= {*rights.split()}
    calls = re.findall(r"^SystemCallFilter=(.*)$", text, re.MULTILINE)
    forbids = [at for at, line in enumerate(calls) if line[0] == "~" and "@privileged" in line]
    allows = [at for at, line in enumerate(calls) if line in ("@system-service", "@setuid")]
    assert max(allows) > max(forbids, default=-1)  # the later line counts, and both have setuid
