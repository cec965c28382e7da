"""The units of the box, as systemd reads them and within the limits that the documentation
promises."""

from __future__ import annotations

import configparser
import ipaddress
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from appliance.models import catalogue
from appliance.models.acceptance import SEEN
from appliance.models.memory_need import PARTS_MIB, SHARE_PERCENT
from appliance.models.placement import READY
from appliance.models.store import DROP
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
MODELS = "/var/lib/interlude-models"
MOST_EXPOSURE = 20  # tenths, of systemd-analyze's 100


@pytest.fixture(scope="module")
def box(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file system of a box, as far as systemd reads it."""
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
        pytest.skip(skips.SYSTEMD)  # it creates /run/systemd
    done = subprocess.run(
        ["systemd-analyze", *words], capture_output=True, text=True, check=False, timeout=60
    )
    return done.returncode, (done.stdout + done.stderr).strip()


def unit(name: str) -> dict[str, list[str]]:
    """Every `Key=value` of a unit, in whatever section."""
    found: dict[str, list[str]] = {}
    for key, value in re.findall(r"^(\w+)=(.*)$", (UNITS / name).read_text(), re.MULTILINE):
        found.setdefault(key, []).append(value)
    return found


# ── as systemd reads them ────────────────────────────────────────────────────────────────────
@pytest.mark.process
@pytest.mark.parametrize("name", NAMES)
def test_systemd_accepts_every_unit(box: Path, name: str) -> None:
    assert analyze("verify", "--man=no", f"--root={box}", name) == (0, "")


@pytest.mark.process
def test_systemd_rejects_an_invalid_unit(box: Path) -> None:
    (box / "usr/lib/systemd/system/bad.service").write_text("[Service]\nExecStart=/no/such\n")
    code, output = analyze("verify", "--man=no", f"--root={box}", "bad.service")
    assert code != 0
    assert "/no/such" in output


@pytest.mark.process
@pytest.mark.parametrize("name", SERVICES)
def test_the_exposure_of_every_service_is_below_the_limit(name: str) -> None:
    words = ("security", "--offline=true", f"--threshold={MOST_EXPOSURE}")
    code, output = analyze(*words, UNITS / name)
    assert code == 0, output


@pytest.mark.parametrize("name", SERVICES)
def test_a_forbidden_system_call_fails_with_eperm(name: str) -> None:
    found = unit(name)
    assert "SystemCallFilter" in found
    assert found["SystemCallErrorNumber"] == ["EPERM"]


@pytest.mark.process
def test_a_service_without_a_sandbox_exceeds_the_limit(tmp_path: Path) -> None:
    bare = tmp_path / "bare.service"
    bare.write_text("[Service]\nExecStart=/bin/true\n")
    words = ("security", "--offline=true", f"--threshold={MOST_EXPOSURE}")
    assert analyze(*words, bare)[0] != 0


# ── as our own code requires them ────────────────────────────────────────────────────────────
def test_the_watchdog_timeout_is_longer_than_the_supervisors_feed_interval() -> None:
    limit_s = int(unit("interlude.service")["WatchdogSec"][0])
    assert limit_s > 2 * FEED_S + LOOK_S
    # A regular stop before a restart feeds no watchdog.
    assert limit_s > 2 * (STOP_S + GONE_S) + FEED_S


def test_a_supervisor_that_ends_for_a_restart_is_started_again() -> None:
    assert unit("interlude.service")["Restart"] == ["always"]


def test_the_stop_timeout_is_long_enough_for_all_processes() -> None:
    limit_s = int(unit("interlude.service")["TimeoutStopSec"][0])
    assert limit_s > 2 * (STOP_S + GONE_S) + 1


def test_the_mute_state_in_memory_survives_a_stop_and_the_status_files_do_not() -> None:
    keys = unit("interlude.service")
    assert keys["RuntimeDirectoryPreserve"] == ["yes"]
    (folder,) = keys["RuntimeDirectory"]
    removed = keys["ExecStopPost"][0]
    gone = {Path(path) for path in removed.split()[2:]}
    assert gone == {Path("/run") / folder / name for name in (status.NAME, health.FILE)}


def test_the_limit_of_real_time_priority_covers_the_process_table() -> None:
    limit = int(unit("interlude.service")["LimitRTPRIO"][0])
    assert limit >= max(row.priority for row in process_table.PROCESSES)


def test_other_slices_are_kept_off_the_cores_of_the_thinker() -> None:
    thinkers = set(process_table.row("thinker").cores)
    for slice_ in ("system.slice.d", "user.slice.d"):
        (file,) = (UNITS / slice_).iterdir()
        allowed = re.search(r"^AllowedCPUs=(\d)-(\d)$", file.read_text(), re.MULTILINE)
        assert allowed
        assert not thinkers & set(range(int(allowed[1]), int(allowed[2]) + 1))
    assert unit("interlude.service")["Slice"] == ["interlude.slice"]


def test_root_services_have_no_network() -> None:
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
WRITES = {  # without the folders that systemd creates (StateDirectory= and the like)
    "interlude.service": {
        "/var/lib/interlude-incoming",
        "/var/lib/interlude-wishes",
        "/run/interlude-wanted",
    },
    "interlude-announce.service": {"/run/interlude-model"},
    "interlude-broker.service": {"/run/interlude-wanted"},
    "interlude-light.service": set(),
    "interlude-model.service": {"/run/interlude-model", "/var/lib/interlude-models/.fetch"},
    "interlude-voice.service": {"/var/lib/interlude-models/.fetch"},
    "interlude-page.service": {"/run/interlude-page"},
    "interlude-improv.service": {"/run/interlude-page"},
    "interlude-pull.service": {"/var/lib/interlude-incoming", "/run/interlude-pull"},
    "interlude-warnings.service": set(),
}
OTHERS = {"/var/lib/interlude", "/var/lib/interlude-models/.fetch", "/var/lib/interlude-pull",
          "/run", "/run/interlude", "/run/interlude-model", "/run/interlude-pull",
          "/run/interlude-page", "/run/interlude-log",
          "/var/log/interlude", "/var/lib", "/var/log", "/home", "/"}  # fmt: skip
TAKES_AWAY = {  # removes files by descriptor and writes nothing there
    # Fetched files, which it makes root's (models/acceptance.py).
    "interlude-accept.service": {"/var/lib/interlude-models/.fetch"},
    # The submitted form, and at a reset the warnings (submitted_form.py, provision/apply_seed.py).
    "interlude-setup.service": {"/run/interlude-page", "/var/log/interlude"},
    # For the users interlude-model and interlude-pull, as which it runs the copying commands.
    "interlude-stick@.service": {
        "/var/lib/interlude-models/.fetch",
        "/run/interlude-model",
        "/run/interlude-pull",
    },
}
FROM_THE_WORLD = {"interlude-model.service", "interlude-pull.service", "interlude-voice.service"}


def writes(name: str) -> set[str]:
    return {path.lstrip("-") for path in " ".join(unit(name).get("ReadWritePaths", [])).split()}


def test_each_trust_domain_has_its_own_user_and_writes_only_its_own_folders() -> None:
    for name in SERVICES:
        keys = unit(name)
        assert keys.get("User", ["root"]) == [USERS.get(name, "root")]
        if name in USERS:
            assert writes(name) == WRITES[name]
            assert keys["ProtectSystem"] == ["strict"]
            state = keys.get("StateDirectory", [])
            assert state in ([], [USERS[name]])  # no unit is given the folder of another one


@pytest.mark.parametrize("name", [name for name in SERVICES if name not in USERS])
def test_root_writes_into_no_folder_of_another_user(name: str) -> None:
    below = {other for other in OTHERS for path in writes(name)
             if Path(other).is_relative_to(path)}  # fmt: skip
    assert below == TAKES_AWAY.get(name, set())


@pytest.mark.parametrize("name", SERVICES)
def test_folders_that_were_mounted_before_systemd_are_listed_as_read_only(name: str) -> None:
    """ProtectSystem=strict left /run writable; image/test/test_users.py checks on a running box
    that it is not."""
    keys = unit(name)
    made = {f"/var/lib/{folder}" for folder in keys.get("StateDirectory", [])}
    made |= {f"/var/log/{folder}" for folder in keys.get("LogsDirectory", [])}
    hidden = {path.lstrip("-") for path in " ".join(keys.get("InaccessiblePaths", [])).split()}
    read = {path.lstrip("-") for path in " ".join(keys["ReadOnlyPaths"]).split()}
    may = writes(name) | made | hidden
    may |= {"/etc/interlude"} if "/etc" in may else set()
    mounted = {"/run", "/data", *(f"/{path}" for path in KEPT if "interlude" in path)}
    if "User" not in keys:  # the folder of systemd that belongs to root
        mounted.add("/var/lib/systemd/timers")
    assert mounted <= read | may
    assert not read & (writes(name) | made)  # of two entries for one path systemd applies this one


def test_only_downloading_services_reach_the_internet_and_they_see_no_data_of_the_box() -> None:
    for name in SERVICES:
        keys = unit(name)
        if "PrivateNetwork" not in keys and "IPAddressDeny" not in keys:
            assert name in FROM_THE_WORLD
            hidden = " ".join(keys["InaccessiblePaths"])
            assert "-/var/lib/interlude " in f"{hidden} "
            assert "-/var/lib/interlude-wishes" in hidden
            assert keys["CapabilityBoundingSet"] == [""]


@pytest.mark.parametrize("name", SERVICES)
def test_no_service_swaps_and_each_has_a_memory_limit(name: str) -> None:
    keys = unit(name)
    assert keys["MemorySwapMax"] == ["0"]
    assert len(keys["MemoryMax"]) == 1


@pytest.mark.parametrize(
    ("memory_mib", "model"), [(3_980, "pocket"), (8_062, "gemma-4-e2b"), (16_218, "gemma-4-e4b")]
)
def test_the_box_and_its_model_fit_into_the_units_share_of_the_memory(
    memory_mib: int, model: str
) -> None:
    """MiB of memory as Linux reports it on a Pi 5 of 4, 8 and 16 GB. A cached page of the weights
    counts, too: with fewer the kernel would read them from the card for each token."""
    keys = unit("interlude.service")
    assert keys["MemoryMax"] == [f"{SHARE_PERCENT}%"]
    weights_mib = (catalogue.load()[model].size or 0) >> 20
    assert weights_mib + PARTS_MIB <= memory_mib * SHARE_PERCENT / 100
    # Beyond it the kernel ends the thinker, and the supervisor starts it again.
    assert keys["OOMPolicy"] == ["continue"]
    assert max(process_table.OOM_SCORES, key=process_table.OOM_SCORES.__getitem__) == "thinker"


def folders_in_run() -> set[str]:
    """The folders below /run that users without rights write."""
    rows = (SYSTEM / "usr/lib/tmpfiles.d/interlude.conf").read_text()
    found = {
        path
        for path, mode, user in re.findall(r"^d +(/run/\S+) +(\d+) (\S+)", rows, re.MULTILINE)
        if user != "root" or int(mode, 8) & 0o020
    }
    return {*found, *(f"/run/{name}" for name in unit("interlude.service")["RuntimeDirectory"])}


def mount_of(folder: str) -> dict[str, list[str]]:
    """The mount unit of a folder (systemd-escape(1), --path)."""
    return unit(f"{folder[1:].replace('-', chr(92) + 'x2d').replace('/', '-')}.mount")


def test_no_user_can_fill_run() -> None:
    """/run has a fifth of the memory, and every program of the system needs room there."""
    folders = folders_in_run()
    assert {"/run/interlude", "/run/interlude-wanted", "/run/interlude-page"} <= folders
    for folder in folders:
        keys = mount_of(folder)
        assert (keys["Where"], keys["Type"]) == ([folder], ["tmpfs"])
        assert {"size=256k", "nr_inodes=200"} <= set(keys["Options"][0].split(","))
        assert keys["WantedBy"] == ["local-fs.target"]
    assert len(folders) == len([name for name in NAMES if name.endswith(".mount")])


def test_a_folder_of_run_has_its_owner_whenever_it_is_mounted() -> None:
    """A path unit that watches in it mounts it, also after systemd-tmpfiles has run."""
    rows = (SYSTEM / "usr/lib/tmpfiles.d/interlude.conf").read_text()
    for folder in folders_in_run() - {"/run/interlude"}:
        [(mode, user, group)] = re.findall(rf"^d +{folder} +(\d+) (\S+) +(\S+)", rows, re.MULTILINE)
        options = mount_of(folder)["Options"][0].split(",")
        owner = [] if user == "root" else [f"uid={user}"]
        assert {f"mode={mode}", f"gid={group}", *owner} <= set(options)
        assert len([option for option in options if option.startswith("uid=")]) == len(owner)


@pytest.mark.process
def test_a_full_folder_of_run_leaves_room_for_all_others(tmp_path: Path) -> None:
    options = re.sub(r",[ug]id=\w+", "", unit("run-interlude.mount")["Options"][0])
    full = tmp_path / "full"
    full.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "none", full], check=False)
    if mounted.returncode:
        pytest.skip(skips.MOUNTS)

    def fill() -> None:
        for number in range(300):
            (full / str(number)).touch()

    try:
        with pytest.raises(OSError, match="No space left"):
            (full / "file").write_bytes(bytes(300_000))
        (full / "file").unlink()
        with pytest.raises(OSError, match="No space left"):
            fill()
        (tmp_path / "beside").write_bytes(bytes(300_000))
    finally:
        subprocess.run(["umount", full], check=True)


ASKED = (
    "model", "setup", "system", "update", "announce", "settings", "network", "broker", "look",
)  # fmt: skip


@pytest.mark.parametrize("name", ASKED)
def test_frequent_requests_are_delayed_and_never_dropped(name: str) -> None:
    """After a limit of triggers systemd disables a path unit until the next boot."""
    assert unit(f"interlude-{name}.path")["TriggerLimitIntervalSec"] == ["0"]
    keys = unit(f"interlude-{name}.service")
    assert keys["StartLimitIntervalSec"] == ["0"]
    assert "/usr/bin/sleep 5" in keys["ExecStopPost"]


def test_what_is_fetched_is_accepted_at_once_and_what_lay_there_before_the_box_starts() -> None:
    path, service = unit("interlude-accept.path"), unit("interlude-accept.service")
    (ready,) = path["PathExistsGlob"]
    assert ready == f"{MODELS}/{DROP}/*/{READY}"
    assert path["TriggerLimitIntervalSec"] == service["StartLimitIntervalSec"] == ["0"]
    assert "/usr/bin/sleep 5" in service["ExecStopPost"]
    # It holds whenever the path's holds: a failed condition would skip the pause.
    assert conditions("interlude-accept.service") == {
        f"PathExistsGlob=|{ready}", f"PathExists=|!{MODELS}/{SEEN}",
    }  # fmt: skip
    box = unit("interlude.service")
    assert "interlude-accept.service" in box["Wants"]
    assert "interlude-accept.service" in box["After"]


def conditions(name: str) -> set[str]:
    keys = {key: values for key, values in unit(name).items() if key[:9] == "Condition"}
    return {f"{key.removeprefix('Condition')}={value}" for key in keys for value in keys[key]}


@pytest.mark.parametrize("name", ASKED)
def test_a_service_without_a_start_limit_has_no_condition_beyond_those_of_its_path_unit(
    name: str,
) -> None:
    """Otherwise systemd would start it again at once, without end: a failed condition skips the
    pause."""
    path = unit(f"interlude-{name}.path")
    own = conditions(f"interlude-{name}.path") | {f"PathExists={path['PathExists'][0]}"}
    assert conditions(f"interlude-{name}.service") <= own


@pytest.mark.parametrize("name", ASKED)
def test_every_failure_is_followed_by_the_pause(name: str) -> None:
    keys = unit(f"interlude-{name}.service")
    assert "RestartPreventExitStatus" not in keys
    assert keys.get("RestartSec", ["10min"]) == ["10min"]


def test_units_that_read_what_a_seed_writes_start_after_it() -> None:
    before = " ".join(unit("interlude-begin.service")["Before"]).split()
    readers = {"interlude.service", "interlude-model.service", "interlude-voice.service"}
    assert readers | {"NetworkManager.service", "ssh.service"} <= set(before)


def test_a_stick_is_mounted_only_with_a_file_system_of_sticks() -> None:
    rules = (SYSTEM / "usr/lib/udev/rules.d/70-interlude.rules").read_text()
    (rule,) = (line for line in rules.splitlines() if "interlude-stick" in line)
    assert 'ENV{ID_FS_TYPE}=="vfat|exfat|ext4"' in rule
    assert 'ENV{ID_BUS}=="usb"' in rule


def test_the_kernel_is_hardened_against_unprivileged_users() -> None:
    file = (SYSTEM / "usr/lib/sysctl.d/50-interlude.conf").read_text()
    rows = dict(re.findall(r"^-?([a-z0-9_.]+) = (\d+)$", file, re.MULTILINE))
    required = {
        "kernel.yama.ptrace_scope": "2", "kernel.kptr_restrict": "2", "kernel.dmesg_restrict": "1",
        "kernel.unprivileged_bpf_disabled": "1", "kernel.kexec_load_disabled": "1",
        "dev.tty.legacy_tiocsti": "0",
        "fs.suid_dumpable": "0", "fs.protected_regular": "2", "fs.protected_fifos": "2",
        "fs.protected_symlinks": "1", "fs.protected_hardlinks": "1",
    }  # fmt: skip
    assert {key: rows.get(key) for key in required} == required
    known = [key for key in rows if (Path("/proc/sys") / key.replace(".", "/")).exists()]
    assert len(known) > 8  # most of the keys are names that the kernel knows


def test_the_kernel_lets_systemd_make_the_user_namespaces_of_private_users() -> None:
    """user.max_user_namespaces = 0 applies to root, too: unshare(2) fails with ENOSPC."""
    file = (SYSTEM / "usr/lib/sysctl.d/50-interlude.conf").read_text()
    assert any(unit(name).get("PrivateUsers") == ["yes"] for name in SERVICES)
    assert not re.search(r"^-?user\.max_user_namespaces", file, re.MULTILINE)


def test_the_supervisor_reaches_the_local_network_only() -> None:
    keys = unit("interlude.service")
    assert keys["IPAddressDeny"] == ["any"]
    allowed = " ".join(keys["IPAddressAllow"]).split()
    named = {"localhost", "link-local", "multicast"}
    networks = [ipaddress.ip_network(place) for place in allowed if place not in named]
    assert networks
    assert all(network.is_private for network in networks)


def test_every_credential_has_a_default_if_it_is_missing() -> None:
    keys = unit("interlude.service")
    loaded = [value.partition(":")[0] for value in keys["LoadCredential"]]
    assert loaded == [value.partition(":")[0] for value in keys["SetCredential"]]
    assert "mqtt-password" in loaded


def test_the_timeout_of_the_settle_unit_covers_the_longest_wait() -> None:
    limit = unit("interlude-settle.service")["TimeoutStartSec"][0]
    assert limit.endswith("min")
    assert 60 * int(limit.removesuffix("min")) > max(fallback.WAITS_S) + 60


def test_the_other_system_is_tried_by_a_unit_that_nothing_else_starts() -> None:
    assert (UNITS / fallback.OTHER_SYSTEM).is_file()
    assert "WantedBy" not in unit(fallback.OTHER_SYSTEM)
    assert unit(fallback.OTHER_SYSTEM)["ConditionKernelCommandLine"] == ["interlude.slot"]


def test_the_unit_of_on_failure_exists() -> None:
    assert unit("interlude.service")["OnFailure"] == ["interlude-settle.service"]
    assert (UNITS / "interlude-settle.service").is_file()


@pytest.mark.parametrize("name", SERVICES)
def test_a_program_of_ours_that_a_unit_starts_exists_and_is_executable(name: str) -> None:
    lines = [*unit(name)["ExecStart"], *unit(name).get("ExecStopPost", [])]
    for program in (line.lstrip("+").split()[0] for line in lines):
        if program.startswith("/usr/lib/interlude/"):
            assert (SYSTEM / program.lstrip("/")).stat().st_mode & 0o111 == 0o111


@pytest.mark.parametrize("path", sorted(SYSTEM.rglob("*.conf")), ids=lambda path: str(path.name))
def test_a_configuration_file_begins_with_a_comment(path: Path) -> None:
    assert path.read_text().lstrip().startswith("#")


def test_configuration_files_of_systemd_can_be_parsed() -> None:
    for path in SYSTEM.glob("usr/lib/systemd/*.conf.d/*.conf"):
        parsed = configparser.ConfigParser(interpolation=None)
        parsed.read(path)
        assert parsed.sections()


@pytest.mark.process
def test_the_users_can_be_created(tmp_path: Path) -> None:
    done = subprocess.run(
        ["systemd-sysusers", "--dry-run", f"--root={tmp_path}",
         SYSTEM / "usr/lib/sysusers.d/interlude.conf"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "interlude" in done.stderr + done.stdout


@pytest.mark.process
def test_the_folders_are_created_with_their_owners_and_modes(tmp_path: Path) -> None:
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
        "var/lib/interlude-models": (0, 0, 0o755),
    }
    fetched = (tmp_path / "var/lib/interlude-models" / DROP).stat()
    assert (fetched.st_uid, fetched.st_gid, fetched.st_mode & 0o7777) == (713, 710, 0o2750)
    assert (tmp_path / "opt/interlude/releases").is_dir()


def test_the_early_light_waits_for_modules_only_and_does_not_start_after_the_panel() -> None:
    keys = unit("interlude-light.service")
    assert keys["DefaultDependencies"] == ["no"]
    assert keys["WantedBy"] == ["sysinit.target"]
    assert keys["After"] == ["systemd-modules-load.service"]  # tests/system/test_modules.py
    assert not keys.keys() & {"Requires", "Wants", "PrivateTmp"}  # each would add a wait
    assert f"!{status.FOLDER / early.BEGINS}" in keys["ConditionPathExists"]
    assert [str(early.FOLDER)] == [f"/run/{name}" for name in keys["RuntimeDirectory"]]
    assert keys["RuntimeDirectoryPreserve"] == ["yes"]
    box = unit("interlude.service")
    assert {"char-gpiochip rw", "char-spi rw"} == set(keys["DeviceAllow"])
    assert set(keys["DeviceAllow"]) <= set(box["DeviceAllow"])
    assert keys["User"] == box["User"]
