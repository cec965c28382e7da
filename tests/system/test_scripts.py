"""The shell scripts of the box: start, settle, leave, fulfilled, stick, alone."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest

from appliance.runtime.network_status import NetworkStatus, write_status
from appliance.runtime.supervision import failure_rate
from appliance.update.release.look_record import AWAITED_S

pytestmark = pytest.mark.process

ROOT = Path(__file__).parents[2]
SCRIPTS = ROOT / "system/usr/lib/interlude"


def script(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def run(name: str, *words: str, **environment: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [SCRIPTS / name, *words],
        env={**os.environ, **{key: str(value) for key, value in environment.items()}},
        capture_output=True,
        text=True,
        check=False,
        timeout=30,
    )


# ── start ────────────────────────────────────────────────────────────────────────────────────
@pytest.fixture
def places(tmp_path: Path) -> dict[str, str | Path]:
    """Two releases whose program prints their name; the first one is kept."""
    for name in ("old", "new"):
        script(tmp_path / name / "bin/interlude", f'echo {name} "$@"')
    (tmp_path / "current").symlink_to("old")
    return {"INTERLUDE_KEPT": tmp_path / "current", "INTERLUDE_TRIAL": tmp_path / "trial"}


def test_the_kept_release_is_started(places: dict[str, str | Path]) -> None:
    assert run("start", **places).stdout == "old run\n"


def test_a_release_on_trial_is_started_instead(
    places: dict[str, str | Path], tmp_path: Path
) -> None:
    (tmp_path / "trial").symlink_to(tmp_path / "new")
    assert run("start", **places).stdout == "new run\n"


def test_a_trial_link_to_a_missing_release_is_ignored(
    places: dict[str, str | Path], tmp_path: Path
) -> None:
    (tmp_path / "trial").symlink_to(tmp_path / "gone")
    assert run("start", **places).stdout == "old run\n"


def test_a_given_up_box_starts_nothing_and_returns_the_exit_code_for_systemd(
    places: dict[str, str | Path], tmp_path: Path
) -> None:
    mark = tmp_path / "given-up"
    assert run("start", **places, INTERLUDE_GIVEN_UP=mark).stdout == "old run\n"
    mark.write_text("signal 0\n")
    done = run("start", **places, INTERLUDE_GIVEN_UP=mark)
    assert (done.returncode, "run" in done.stdout) == (failure_rate.EXIT_CODE, False)


# ── settle ───────────────────────────────────────────────────────────────────────────────────
def test_a_failed_trial_is_ended_and_the_box_started(tmp_path: Path) -> None:
    trial, asked = tmp_path / "trial", tmp_path / "asked"
    trial.symlink_to("/opt/interlude/releases/0.2.0")
    systemctl = script(tmp_path / "systemctl", f'echo "$@" >>{asked}')
    done = run("settle", INTERLUDE_TRIAL=trial, INTERLUDE_SYSTEMCTL=systemctl)
    assert done.returncode == 0
    assert "0.2.0" in done.stdout
    assert not trial.is_symlink()
    assert asked.read_text().splitlines() == [
        "is-failed --quiet interlude.service",
        "reset-failed interlude.service",
        "--no-block start interlude.service",
    ]


def test_a_failure_without_a_trial_is_decided_by_the_fallback_program(tmp_path: Path) -> None:
    asked = tmp_path / "asked"
    systemctl = script(tmp_path / "systemctl", f'echo "$@" >>{asked}')
    decides = script(tmp_path / "decides", f"echo decides >>{asked}; echo 0")
    done = run("settle", INTERLUDE_TRIAL=tmp_path / "trial", INTERLUDE_SYSTEMCTL=systemctl,
               INTERLUDE_FALLBACK=decides)  # fmt: skip
    assert done.returncode == 0
    assert asked.read_text().splitlines() == [
        "is-failed --quiet interlude.service",
        "decides",
        "is-failed --quiet interlude.service",
        "reset-failed interlude.service",
        "--no-block start interlude.service",
    ]


# ── leave ────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize(
    ("flag", "asked"),
    [("yes\n", ["--force reboot"]), ("no\n", []), (None, [])],
    ids=["on trial", "not on trial", "not our image"],
)
def test_only_a_system_on_trial_is_left_by_a_reboot(
    tmp_path: Path, flag: str | None, asked: list[str]
) -> None:
    if flag is not None:
        (tmp_path / "trial").write_text(flag)
    (tmp_path / "asked").touch()
    systemctl = script(tmp_path / "systemctl", f'echo "$@" >>{tmp_path}/asked')
    done = run("leave", INTERLUDE_START=tmp_path, INTERLUDE_SYSTEMCTL=systemctl)
    assert done.returncode == 0
    assert (tmp_path / "asked").read_text().splitlines() == asked


# ── fulfilled ────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize(
    ("result", "status", "stays"),
    [("success", "0", False), ("success", "TERM", True), ("exit-code", "69", True), ("", "", True)],
)
@pytest.mark.parametrize("words", [(), ("voice-wanted",)])
def test_a_request_is_removed_only_after_a_successful_download(
    tmp_path: Path, result: str, status: str, stays: bool, words: tuple[str, ...]
) -> None:
    files = {name: tmp_path / name for name in ("model-wanted", "voice-wanted")}
    for file in files.values():
        file.write_text("a-name\n")
    done = run("fulfilled", *words, INTERLUDE_REQUESTS=tmp_path, SERVICE_RESULT=result,
               EXIT_STATUS=status)  # fmt: skip
    assert done.returncode == 0
    own = files[words[0] if words else "model-wanted"]
    assert [file.exists() for file in files.values()] == [
        file != own or stays for file in files.values()
    ]


# ── stick ────────────────────────────────────────────────────────────────────────────────────
def plug(
    folder: Path,
    kind: str,
    code: int = 0,
    *,
    wants: tuple[str, ...] = ("request",),
    refuses: int = 0,
) -> tuple[int, list[str]]:
    """Insert a stick with a file system of this kind. Returns the exit code and the commands that
    were called. `code`: of the copy. `refuses`: of the installation of a voice's program."""
    asked = folder / "asked"
    asked.touch()
    for wanted in wants:
        (folder / wanted).touch()
    done = run(
        "stick", "sda1", INTERLUDE_UDEVADM=script(folder / "udevadm", f"echo {kind}"),
        INTERLUDE_SETPRIV=script(folder / "setpriv", f'umask >>{asked}; echo "setpriv $*" >>{asked}'
                                 f"; exit {code}"),
        INTERLUDE_MODEL_REQUEST=folder / "request",
        INTERLUDE_VOICE_REQUEST=folder / "voice-request",
        INTERLUDE_LOOK=folder / "look",
        INTERLUDE_COMMAND=script(folder / "interlude", f'umask >>{asked}; echo "interlude $*"'
                                 f" >>{asked}; exit {refuses}"),
        **{f"INTERLUDE_{name.upper()}": script(folder / name, f'echo "{name} $*" >>{asked}')
           for name in ("mount", "umount", "systemctl")},
    )  # fmt: skip
    return done.returncode, asked.read_text().splitlines()


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("vfat", "ro,nosuid,nodev,noexec"),
        ("exfat", "ro,nosuid,nodev,noexec"),
        ("ext4", "ro,nosuid,nodev,noexec,noload"),
    ],
)
def test_a_stick_is_mounted_with_safe_options_and_read_by_the_model_user(
    tmp_path: Path, kind: str, options: str
) -> None:
    code, asked = plug(tmp_path, kind)
    assert code == 0
    mount, mask, copy, again, umount = asked
    assert f"--fsck=no --type={kind} --options={options} /dev/sda1" in mount
    assert int(mask, 8) == 0o027
    assert "--reuid=interlude-model --regid=interlude-model --init-groups" in copy
    assert again == "systemctl --no-block restart interlude-model.service"
    assert umount == "umount /run/interlude-stick/sda1"


def test_a_useless_stick_is_unmounted_too(tmp_path: Path) -> None:
    code, asked = plug(tmp_path, "vfat", 69)
    assert code == 69
    assert asked[-1].startswith("umount")
    assert not [line for line in asked if line.startswith("systemctl")]


@pytest.mark.parametrize("refuses", [0, 65])
def test_a_stick_brings_a_voice_and_root_installs_its_program(tmp_path: Path, refuses: int) -> None:
    """A refused program does not prevent the copy of the voice's own files."""
    code, asked = plug(tmp_path, "vfat", wants=("voice-request",), refuses=refuses)
    assert code == refuses
    _, mask, install, _, copy, again, umount = asked
    assert (int(mask, 8), install) == (0o022, "interlude voices install /run/interlude-stick/sda1")
    assert copy.endswith("models bring --voice --from /run/interlude-stick/sda1")
    assert "--reuid=interlude-model" in copy
    assert again == "systemctl --no-block restart interlude-voice.service"
    assert umount.startswith("umount")


def test_without_a_requested_voice_no_program_is_installed_from_a_stick(tmp_path: Path) -> None:
    _, asked = plug(tmp_path, "vfat")
    assert not [line for line in asked if line.startswith("interlude ") or "--voice" in line]


def test_a_requested_release_is_copied_from_a_stick_by_the_pull_user(tmp_path: Path) -> None:
    code, asked = plug(tmp_path, "vfat", wants=("look",))
    assert code == 0
    _, mask, bring, umount = asked
    assert int(mask, 8) == 0o022, "the box must be able to read it"
    assert "--reuid=interlude-pull --regid=interlude-pull --init-groups" in bring
    assert bring.endswith("release bring /run/interlude-stick/sda1")
    assert umount.startswith("umount")
    assert not (tmp_path / "look").exists(), "a request is valid once"


def test_a_refused_release_does_not_prevent_the_copy_of_a_model(tmp_path: Path) -> None:
    code, asked = plug(tmp_path, "vfat", 65, wants=("look", "request"))
    assert code == 65
    assert [line.rpartition(" interlude ")[2] for line in asked if "bring" in line] == [
        line.rpartition(" interlude ")[2] for line in asked if "setpriv " in line
    ]
    assert sum("models bring" in line for line in asked) == 1
    assert asked[-1].startswith("umount")


def test_an_expired_request_mounts_no_stick(tmp_path: Path) -> None:
    (tmp_path / "look").touch()
    long_ago_s = time.time() - AWAITED_S["stick"] - 90
    os.utime(tmp_path / "look", (long_ago_s, long_ago_s))
    code, asked = plug(tmp_path, "vfat", wants=())
    assert (code, asked) == (0, [])
    assert not (tmp_path / "look").exists()


@pytest.mark.parametrize("kind", ["ntfs", "hfsplus", "btrfs", "iso9660", "vfat,x", ""])
def test_other_file_systems_are_not_mounted(tmp_path: Path, kind: str) -> None:
    assert plug(tmp_path, kind) == (0, [])


# ── all scripts ──────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize(
    "path",
    sorted(
        path
        for path in (*SCRIPTS.iterdir(), ROOT / "system/usr/local/bin/interlude")
        if path.is_file() and path.read_text().startswith("#!/bin/sh")
    ),
)
def test_shellcheck_reports_nothing(path: Path) -> None:
    done = subprocess.run(["shellcheck", path], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


# ── alone ────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize(
    ("state", "status", "runs"),
    [
        ("connected", NetworkStatus(name="kitchen.local"), False),
        ("connected", NetworkStatus(unconfirmed="Street"), True),
        ("connected", NetworkStatus(unconfirmed='"'), True),
        ("connected", None, False),
        ("disconnected", NetworkStatus(), True),
    ],
)
def test_set_up_looks_again_without_a_network_and_in_an_unconfirmed_wifi(
    tmp_path: Path, state: str, status: NetworkStatus | None, runs: bool
) -> None:
    text = (SCRIPTS / "alone").read_text()
    for folder in ("/run/", "/var/lib/"):
        text = text.replace(folder, f"{tmp_path}{folder}")
    at_place = script(tmp_path / "alone", text.removeprefix("#!/bin/sh\n"))
    script(tmp_path / "bin/nmcli", f"echo {state}")
    for name in ("interlude-setup", "interlude-network"):
        (tmp_path / "run" / name).mkdir(parents=True)
    (tmp_path / "run/interlude-setup/looked").touch()
    if status is not None:
        write_status(status, tmp_path / "run/interlude-network")
    path = f"{tmp_path}/bin:{os.environ['PATH']}"
    done = subprocess.run([at_place], env={**os.environ, "PATH": path}, check=False, timeout=30)
    assert (done.returncode == 0) == runs
