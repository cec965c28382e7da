"""The units that the box runs: as systemd reads them, and as tight as we promise."""

from __future__ import annotations

import configparser
import ipaddress
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from appliance.panel import early, health
from appliance.runtime import process_table, status
from appliance.runtime.supervision.systemd_notify import FEED_S
from appliance.runtime.supervisor import GONE_S, LOOK_S, STOP_S
from image.initramfs import KEPT
from system.usr.lib.interlude import fallback
from tests import skips

ROOT = Path(__file__).parents[2]
SYSTEM = ROOT / "system"
UNITS = SYSTEM / "usr/lib/systemd/system"
VENDOR_UNITS = Path("/usr/lib/systemd/system")
NAMES = sorted(p.name for p in UNITS.iterdir() if p.is_file())
SERVICES = [name for name in NAMES if name.endswith(".service")]
MOST_EXPOSURE = 20  # tenths, of systemd-analyze's 100


@pytest.fixture(scope="module")
def box(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A box's file system as far as systemd looks at it."""
    root = tmp_path_factory.mktemp("box")
    shutil.copytree(SYSTEM, root, symlinks=True, dirs_exist_ok=True)
    shutil.copytree(
        VENDOR_UNITS, root / "usr/lib/systemd/system", symlinks=True, dirs_exist_ok=True
    )
    for program in (
        "opt/interlude/current/bin/interlude", "usr/bin/rm",
        "usr/bin/sleep",
    ):  # fmt: skip
        command = root / program
        command.parent.mkdir(parents=True, exist_ok=True)
        command.write_text("#!/bin/sh\n")
        command.chmod(0o755)
    return root


def analyze(*words: str | Path) -> tuple[int, str]:
    if skips.LACKING[skips.SYSTEMD]():
        pytest.skip(skips.SYSTEMD)  # it makes /run/systemd
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
@pytest.mark.process
@pytest.mark.parametrize("name", NAMES)
def test_systemd_has_nothing_to_say_against_a_unit(box: Path, name: str) -> None:
    assert analyze("verify", "--man=no", f"--root={box}", name) == (0, "")


@pytest.mark.process
def test_systemd_does_say_something_against_a_bad_one(box: Path) -> None:
    (box / "usr/lib/systemd/system/bad.service").write_text("[Service]\nExecStart=/no/such\n")
    code, said = analyze("verify", "--man=no", f"--root={box}", "bad.service")
    assert code != 0
    assert "/no/such" in said


@pytest.mark.process
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


@pytest.mark.process
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
    removed = keys["ExecStopPost"][0]
    gone = {Path(path) for path in removed.split()[2:]}
    assert gone == {Path("/run") / folder / name for name in (status.NAME, health.FILE)}


def test_the_limit_of_real_time_priority_covers_the_table() -> None:
    limit = int(unit("interlude.service")["LimitRTPRIO"][0])
    assert limit >= max(row.priority for row in process_table.PROCESSES)


def test_everything_else_is_kept_off_the_thinkers_cores() -> None:
    thinkers = set(process_table.row("thinker").cores)
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


USERS = {
    "interlude.service": "interlude",
    "interlude-announce.service": "interlude",
    "interlude-broker.service": "interlude",
    "interlude-light.service": "interlude",
    "interlude-model.service": "interlude-model",
    "interlude-voice.service": "interlude-model",
    "interlude-page.service": "interlude-setup",
    "interlude-improv.service": "interlude-setup",
    "interlude-pull.service": "interlude-pull",
    "interlude-warnings.service": "interlude-log",
}
WRITES = {  # beside what systemd makes for a unit (StateDirectory= and the like)
    "interlude.service": {
        "/var/lib/interlude-incoming",
        "/var/lib/interlude-wishes",
        "/run/interlude-wanted",
    },
    "interlude-announce.service": {"/run/interlude-model"},
    "interlude-broker.service": {"/run/interlude-wanted"},
    "interlude-light.service": set(),
    "interlude-model.service": {"/run/interlude-model", "/var/lib/interlude-models"},
    "interlude-voice.service": {"/var/lib/interlude-models"},
    "interlude-page.service": {"/run/interlude-page"},
    "interlude-improv.service": {"/run/interlude-page"},
    "interlude-pull.service": {"/var/lib/interlude-incoming", "/run/interlude-pull"},
    "interlude-warnings.service": set(),
}
OTHERS = {"/var/lib/interlude", "/var/lib/interlude-models", "/var/lib/interlude-pull", "/run",
          "/run/interlude", "/run/interlude-model", "/run/interlude-pull",
          "/run/interlude-page", "/run/interlude-log",
          "/var/log/interlude", "/var/lib", "/var/log", "/home", "/"}  # fmt: skip
TAKES_AWAY = {  # by descriptor, and writes nothing there
    # What the page has handed over, and at a reset the warnings (submitted_form.py,
    # provision/apply_seed.py).
    "interlude-setup.service": {"/run/interlude-page", "/var/log/interlude"},
    # For the models' own user, and that of the fleet's release, as which it runs what copies.
    "interlude-stick@.service": {
        "/var/lib/interlude-models",
        "/run/interlude-model",
        "/run/interlude-pull",
    },
}
FROM_THE_WORLD = {"interlude-model.service", "interlude-pull.service", "interlude-voice.service"}


def writes(name: str) -> set[str]:
    return {path.lstrip("-") for path in " ".join(unit(name).get("ReadWritePaths", [])).split()}


def test_each_domain_of_trust_has_a_user_of_its_own_and_writes_its_own() -> None:
    for name in SERVICES:
        keys = unit(name)
        assert keys.get("User", ["root"]) == [USERS.get(name, "root")]
        if name in USERS:
            assert writes(name) == WRITES[name]
            assert keys["ProtectSystem"] == ["strict"]
            state = keys.get("StateDirectory", [])
            assert state in ([], [USERS[name]])  # nobody is given the folder of another


@pytest.mark.parametrize("name", [name for name in SERVICES if name not in USERS])
def test_root_writes_below_no_folder_of_another_user(name: str) -> None:
    assert writes(name) & OTHERS == TAKES_AWAY.get(name, set())


@pytest.mark.parametrize("name", SERVICES)
def test_what_was_mounted_before_systemd_is_named_to_be_read_only(name: str) -> None:
    """ProtectSystem=strict left /run writable: image/test/test_users.py sees that it is not."""
    keys = unit(name)
    made = {f"/var/lib/{folder}" for folder in keys.get("StateDirectory", [])}
    made |= {f"/var/log/{folder}" for folder in keys.get("LogsDirectory", [])}
    hidden = {path.lstrip("-") for path in " ".join(keys.get("InaccessiblePaths", [])).split()}
    read = {path.lstrip("-") for path in " ".join(keys["ReadOnlyPaths"]).split()}
    may = writes(name) | made | hidden
    may |= {"/etc/interlude"} if "/etc" in may else set()
    mounted = {"/run", "/data", *(f"/{path}" for path in KEPT if "interlude" in path)}
    if "User" not in keys:  # of systemd's own folders there, the one that is root's
        mounted.add("/var/lib/systemd/timers")
    assert mounted <= read | may
    assert not read & (writes(name) | made)  # of two words for one path, systemd takes this one


def test_only_what_fetches_speaks_with_the_world_and_it_sees_nothing_of_the_boxs() -> None:
    for name in SERVICES:
        keys = unit(name)
        if "PrivateNetwork" not in keys and "IPAddressDeny" not in keys:
            assert name in FROM_THE_WORLD
            hidden = " ".join(keys["InaccessiblePaths"])
            assert "-/var/lib/interlude " in f"{hidden} "
            assert "-/var/lib/interlude-wishes" in hidden
            assert keys["CapabilityBoundingSet"] == [""]


@pytest.mark.parametrize("name", SERVICES)
def test_nothing_is_swapped_and_nothing_but_the_box_takes_all_memory(name: str) -> None:
    keys = unit(name)
    assert keys["MemorySwapMax"] == ["0"]
    assert ("MemoryMax" in keys) == (name != "interlude.service")


ASKED = (
    "model", "setup", "system", "update", "announce", "settings", "network", "broker", "look",
)  # fmt: skip


@pytest.mark.parametrize("name", ASKED)
def test_whoever_asks_too_often_is_answered_later_and_not_never(name: str) -> None:
    """Past a limit of triggers systemd gives a path unit up until the machine starts anew."""
    assert unit(f"interlude-{name}.path")["TriggerLimitIntervalSec"] == ["0"]
    keys = unit(f"interlude-{name}.service")
    assert keys["StartLimitIntervalSec"] == ["0"]
    assert "/usr/bin/sleep 5" in keys["ExecStopPost"]


def conditions(name: str) -> set[str]:
    keys = {key: values for key, values in unit(name).items() if key[:9] == "Condition"}
    return {f"{key.removeprefix('Condition')}={value}" for key in keys for value in keys[key]}


@pytest.mark.parametrize("name", ASKED)
def test_a_service_without_a_limit_has_no_condition_that_its_path_unit_could_meet_in_vain(
    name: str,
) -> None:
    """systemd would start it again at once, without end: where one fails, no pause is run."""
    path = unit(f"interlude-{name}.path")
    own = conditions(f"interlude-{name}.path") | {f"PathExists={path['PathExists'][0]}"}
    assert conditions(f"interlude-{name}.service") <= own


@pytest.mark.parametrize("name", ASKED)
def test_no_way_to_fail_is_left_out_of_the_pause_before_the_next_try(name: str) -> None:
    keys = unit(f"interlude-{name}.service")
    assert "RestartPreventExitStatus" not in keys
    assert keys.get("RestartSec", ["10min"]) == ["10min"]


def test_whoever_reads_what_a_seed_writes_comes_after_it() -> None:
    before = " ".join(unit("interlude-begin.service")["Before"]).split()
    readers = {"interlude.service", "interlude-model.service", "interlude-voice.service"}
    assert readers | {"NetworkManager.service", "ssh.service"} <= set(before)


def test_a_stick_is_mounted_only_as_what_sticks_are() -> None:
    rules = (SYSTEM / "usr/lib/udev/rules.d/70-interlude.rules").read_text()
    (rule,) = (line for line in rules.splitlines() if "interlude-stick" in line)
    assert 'ENV{ID_FS_TYPE}=="vfat|exfat|ext4"' in rule
    assert 'ENV{ID_BUS}=="usb"' in rule


def test_the_kernel_tells_and_lends_little_to_whoever_has_no_rights() -> None:
    file = (SYSTEM / "usr/lib/sysctl.d/50-interlude.conf").read_text()
    rows = dict(re.findall(r"^-?([a-z0-9_.]+) = (\d+)$", file, re.MULTILINE))
    wanted = {
        "kernel.yama.ptrace_scope": "2", "kernel.kptr_restrict": "2", "kernel.dmesg_restrict": "1",
        "kernel.unprivileged_bpf_disabled": "1", "kernel.kexec_load_disabled": "1",
        "fs.suid_dumpable": "0", "fs.protected_regular": "2", "fs.protected_fifos": "2",
        "fs.protected_symlinks": "1", "fs.protected_hardlinks": "1",
    }  # fmt: skip
    assert {key: rows.get(key) for key in wanted} == wanted
    known = [key for key in rows if (Path("/proc/sys") / key.replace(".", "/")).exists()]
    assert len(known) > 8  # and none of them is a name of ours


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


def test_what_follows_a_failure_has_time_for_its_longest_wait() -> None:
    limit = unit("interlude-settle.service")["TimeoutStartSec"][0]
    assert limit.endswith("min")
    assert 60 * int(limit.removesuffix("min")) > max(fallback.WAITS_S) + 60


def test_the_other_system_is_tried_by_a_unit_that_nothing_else_starts() -> None:
    assert (UNITS / fallback.OTHER_SYSTEM).is_file()
    assert "WantedBy" not in unit(fallback.OTHER_SYSTEM)
    assert unit(fallback.OTHER_SYSTEM)["ConditionKernelCommandLine"] == ["interlude.slot"]


def test_the_unit_that_a_failure_calls_is_there() -> None:
    assert unit("interlude.service")["OnFailure"] == ["interlude-settle.service"]
    assert (UNITS / "interlude-settle.service").is_file()


@pytest.mark.parametrize("name", SERVICES)
def test_a_program_of_ours_that_a_unit_starts_is_there_and_can_run(name: str) -> None:
    lines = [*unit(name)["ExecStart"], *unit(name).get("ExecStopPost", [])]
    for program in (line.lstrip("+").split()[0] for line in lines):
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


@pytest.mark.process
def test_the_users_can_be_made(tmp_path: Path) -> None:
    done = subprocess.run(
        ["systemd-sysusers", "--dry-run", f"--root={tmp_path}",
         SYSTEM / "usr/lib/sysusers.d/interlude.conf"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "interlude" in done.stderr + done.stdout


@pytest.mark.process
def test_the_folders_can_be_made_and_are_for_whom_they_should_be(tmp_path: Path) -> None:
    (tmp_path / "etc").mkdir()
    for tool, file in (("systemd-sysusers", "sysusers.d"), ("systemd-tmpfiles", "tmpfiles.d")):
        create = ["--create"] if file == "tmpfiles.d" else []
        done = subprocess.run(
            [tool, *create, f"--root={tmp_path}", SYSTEM / "usr/lib" / file / "interlude.conf"],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode == 73:
            pytest.skip(skips.ROOT_RIGHTS)
        assert done.returncode == 0, done.stderr
    found = {}
    for path in (*tmp_path.glob("var/lib/*"), *tmp_path.glob("run/*"), *tmp_path.glob("etc/i*/*")):
        about = path.stat()
        found[str(path.relative_to(tmp_path))] = about.st_uid, about.st_gid, about.st_mode & 0o7777
    assert found == {
        "etc/interlude/secrets": (0, 0, 0o700),
        "run/interlude-release": (0, 0, 0o755),
        "run/interlude-setup": (0, 712, 0o750),
        "run/interlude-network": (0, 0, 0o755),
        "run/interlude-wanted": (0, 710, 0o1770),
        "run/interlude-changed": (0, 0, 0o755),
        "run/interlude-page": (712, 712, 0o700),
        "run/interlude-model": (713, 710, 0o2770),
        "run/interlude-pull": (714, 714, 0o755),
        "var/lib/interlude": (710, 710, 0o750),
        "var/lib/interlude-incoming": (0, 715, 0o1770),
        "var/lib/interlude-wishes": (0, 710, 0o1770),
        "var/lib/interlude-models": (713, 710, 0o2750),
    }
    assert (tmp_path / "opt/interlude/releases").is_dir()


def test_the_early_light_waits_for_modules_and_leaves_the_wires_to_a_panel_that_has_begun() -> None:
    keys = unit("interlude-light.service")
    assert keys["DefaultDependencies"] == ["no"]
    assert keys["WantedBy"] == ["sysinit.target"]
    assert keys["After"] == ["systemd-modules-load.service"]  # tests/system/test_modules.py
    assert not keys.keys() & {"Requires", "Wants", "PrivateTmp"}  # each would be a wait
    assert f"!{status.FOLDER / early.BEGINS}" in keys["ConditionPathExists"]
    assert [str(early.FOLDER)] == [f"/run/{name}" for name in keys["RuntimeDirectory"]]
    assert keys["RuntimeDirectoryPreserve"] == ["yes"]
    box = unit("interlude.service")
    assert {"char-gpiochip rw", "char-spi rw"} == set(keys["DeviceAllow"])
    assert set(keys["DeviceAllow"]) <= set(box["DeviceAllow"])
    assert keys["User"] == box["User"]
