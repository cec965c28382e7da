"""The units that the box runs: as systemd reads them, and as tight as we promise."""

from __future__ import annotations

import configparser
import ipaddress
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from appliance import processes, status
from appliance.panel import health
from appliance.supervision.service import FEED_S
from appliance.supervisor import GONE_S, LOOK_S, STOP_S
from tests import skips

ROOT = Path(__file__).parents[2]
SYSTEM = ROOT / "system"
UNITS = SYSTEM / "usr/lib/systemd/system"
VENDOR_UNITS = Path("/usr/lib/systemd/system")
NAMES = sorted(p.name for p in UNITS.iterdir() if p.is_file())
SERVICES = [name for name in NAMES if name.endswith(".service")]
MOST_EXPOSURE = 25  # tenths, of systemd-analyze's 100


@pytest.fixture(scope="module")
def box(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A box's file system as far as systemd looks at it."""
    root = tmp_path_factory.mktemp("box")
    shutil.copytree(SYSTEM, root, symlinks=True, dirs_exist_ok=True)
    shutil.copytree(
        VENDOR_UNITS, root / "usr/lib/systemd/system", symlinks=True, dirs_exist_ok=True
    )
    for program in (
        "opt/interlude/current/bin/interlude", "usr/bin/ansible-pull", "usr/bin/rm",
    ):  # fmt: skip
        command = root / program
        command.parent.mkdir(parents=True, exist_ok=True)
        command.write_text("#!/bin/sh\n")
        command.chmod(0o755)
    return root


def analyze(*words: str | Path) -> tuple[int, str]:
    done = subprocess.run(
        ["systemd-analyze", *words], capture_output=True, text=True, check=False, timeout=60
    )
    return done.returncode, (done.stdout + done.stderr).strip()


def unit(name: str) -> dict[str, list[str]]:
    """Every `Key=value` of a unit, whatever its section."""
    found: dict[str, list[str]] = {}
    for key, value in re.findall(r"^(\w+)=(.*)$", (UNITS / name).read_text(), re.MULTILINE):
        found.setdefault(key, []).append(value)
    return found


# ── as systemd reads them ────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("name", NAMES)
def test_systemd_has_nothing_to_say_against_a_unit(box: Path, name: str) -> None:
    assert analyze("verify", "--man=no", f"--root={box}", name) == (0, "")


def test_systemd_does_say_something_against_a_bad_one(box: Path) -> None:
    (box / "usr/lib/systemd/system/bad.service").write_text("[Service]\nExecStart=/no/such\n")
    code, said = analyze("verify", "--man=no", f"--root={box}", "bad.service")
    assert code != 0
    assert "/no/such" in said


@pytest.mark.parametrize("name", SERVICES)
def test_a_service_is_little_exposed(name: str) -> None:
    words = ("security", "--offline=true", f"--threshold={MOST_EXPOSURE}")
    code, said = analyze(*words, UNITS / name)
    assert code == 0, said


@pytest.mark.parametrize("name", SERVICES)
def test_a_call_that_is_not_allowed_is_told_no_and_is_no_death(name: str) -> None:
    found = unit(name)
    assert "SystemCallFilter" in found
    assert found["SystemCallErrorNumber"] == ["EPERM"]


def test_a_service_without_a_sandbox_would_be_told(tmp_path: Path) -> None:
    bare = tmp_path / "bare.service"
    bare.write_text("[Service]\nExecStart=/bin/true\n")
    words = ("security", "--offline=true", f"--threshold={MOST_EXPOSURE}")
    assert analyze(*words, bare)[0] != 0


# ── as our own code means them ───────────────────────────────────────────────────────────────
def test_the_watchdog_waits_longer_than_the_supervisor_between_two_feeds() -> None:
    limit_s = int(unit("interlude.service")["WatchdogSec"][0])
    assert limit_s > 2 * FEED_S + LOOK_S
    assert limit_s > 2 * (STOP_S + GONE_S) + FEED_S  # an orderly stop before a restart is not fed


def test_a_box_that_ends_in_order_to_begin_anew_is_started_again() -> None:
    assert unit("interlude.service")["Restart"] == ["always"]


def test_a_stop_has_time_for_all_parts_and_then_for_the_first() -> None:
    limit_s = int(unit("interlude.service")["TimeoutStopSec"][0])
    assert limit_s > 2 * (STOP_S + GONE_S) + 1


def test_what_is_in_memory_of_mute_outlives_a_stop_and_how_the_box_stood_does_not() -> None:
    keys = unit("interlude.service")
    assert keys["RuntimeDirectoryPreserve"] == ["yes"]
    (folder,) = keys["RuntimeDirectory"]
    (removed,) = keys["ExecStopPost"]
    gone = {Path(path) for path in removed.split()[2:]}
    assert gone == {Path("/run") / folder / name for name in (status.NAME, health.FILE)}


def test_the_limit_of_real_time_priority_covers_the_table() -> None:
    limit = int(unit("interlude.service")["LimitRTPRIO"][0])
    assert limit >= max(row.priority for row in processes.PROCESSES)


def test_everything_else_is_kept_off_the_thinkers_cores() -> None:
    thinkers = set(processes.row("thinker").cores)
    for slice_ in ("system.slice.d", "user.slice.d"):
        (file,) = (UNITS / slice_).iterdir()
        allowed = re.search(r"^AllowedCPUs=(\d)-(\d)$", file.read_text(), re.MULTILINE)
        assert allowed
        assert not thinkers & set(range(int(allowed[1]), int(allowed[2]) + 1))
    assert unit("interlude.service")["Slice"] == ["interlude.slice"]


def test_root_never_speaks_with_the_network() -> None:
    for name in SERVICES:
        keys = unit(name)
        if "User" not in keys:
            assert keys["RestrictAddressFamilies"] == ["AF_UNIX"]
            assert keys["PrivateNetwork"] == ["yes"]


def test_the_box_speaks_with_the_house_and_not_with_the_world() -> None:
    keys = unit("interlude.service")
    assert keys["IPAddressDeny"] == ["any"]
    allowed = " ".join(keys["IPAddressAllow"]).split()
    named = {"localhost", "link-local", "multicast"}
    networks = [ipaddress.ip_network(place) for place in allowed if place not in named]
    assert networks
    assert all(network.is_private for network in networks)


def test_every_secret_has_something_that_stands_in_where_it_is_missing() -> None:
    keys = unit("interlude.service")
    loaded = [value.partition(":")[0] for value in keys["LoadCredential"]]
    assert loaded == [value.partition(":")[0] for value in keys["SetCredential"]]
    assert "mqtt-password" in loaded


def test_the_unit_that_a_failure_calls_is_there() -> None:
    assert unit("interlude.service")["OnFailure"] == ["interlude-settle.service"]
    assert (UNITS / "interlude-settle.service").is_file()


@pytest.mark.parametrize("name", SERVICES)
def test_a_program_of_ours_that_a_unit_starts_is_there_and_can_run(name: str) -> None:
    program = unit(name)["ExecStart"][0].split()[0]
    if program.startswith("/usr/lib/interlude/"):
        assert (SYSTEM / program.lstrip("/")).stat().st_mode & 0o111 == 0o111


@pytest.mark.parametrize("path", sorted(SYSTEM.rglob("*.conf")), ids=lambda path: str(path.name))
def test_a_drop_in_says_why(path: Path) -> None:
    assert path.read_text().lstrip().startswith("#")


def test_a_drop_in_of_systemds_own_format_can_be_read() -> None:
    for path in SYSTEM.glob("usr/lib/systemd/*.conf.d/*.conf"):
        parsed = configparser.ConfigParser(interpolation=None)
        parsed.read(path)
        assert parsed.sections()


def test_the_users_can_be_made(tmp_path: Path) -> None:
    done = subprocess.run(
        ["systemd-sysusers", "--dry-run", f"--root={tmp_path}",
         SYSTEM / "usr/lib/sysusers.d/interlude.conf"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "interlude" in done.stderr + done.stdout


def test_the_folders_can_be_made_and_the_secrets_are_for_root_alone(tmp_path: Path) -> None:
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc/passwd").write_text(
        "root:x:0:0::/:\ninterlude:x:0:0::/:\ninterlude-setup:x:0:0::/:\n"
    )
    (tmp_path / "etc/group").write_text("root:x:0:\ninterlude:x:0:\ninterlude-setup:x:0:\n")
    done = subprocess.run(
        ["systemd-tmpfiles", "--create", f"--root={tmp_path}",
         SYSTEM / "usr/lib/tmpfiles.d/interlude.conf"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode == 73:
        pytest.skip(skips.ROOT_RIGHTS)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "etc/interlude/secrets").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "opt/interlude/releases").is_dir()
