"""The box as systemd describes it. A small script replaces systemctl."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from appliance.cli.rows import rows_to_run
from appliance.errors import ReleaseRefused, StorageError
from appliance.runtime.status import StatusFile, SupervisorStatus, systemd_line
from appliance.settings import load_defaults
from appliance.update.health_check import (
    READING_PATIENCE_S,
    STEADY_S,
    HealthCheck,
    HealthReading,
)
from appliance.update.release.installer import SECURITY_TRIES, WAIT_S
from appliance.update.release.target import (
    TRY_OUT_S,
    SelfTestInterrupted,
    SystemdTarget,
    selftest_environment,
)

pytestmark = pytest.mark.process

UNITS = Path(__file__).parents[3] / "system/usr/lib/systemd/system"


def script(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def service(folder: Path, says: str = "", code: int = 0) -> SystemdTarget:
    systemctl = script(
        folder / "systemctl", f'echo "$@" >>{folder}/asked\nprintf "{says}"\nexit {code}'
    )
    return SystemdTarget(str(systemctl))


STATUS = SupervisorStatus(version="0.2.0", pid=7, state="speaking", ready=True, failed=("link",))
RUNNING = r"ActiveState=active\nMainPID=7\nNRestarts=2\nStatusText={line}\n"


def test_the_health_of_a_running_box_is_read(tmp_path: Path) -> None:
    says = RUNNING.format(line=systemd_line(STATUS))
    reading = service(tmp_path, says).read_health()
    assert (reading.activity, reading.restarts) == ("active", 2)
    assert reading.status == STATUS
    assert reading.talking


def test_a_status_file_that_a_part_of_the_box_wrote_has_no_influence_on_the_health_check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file lies where every part may write; systemd takes a line from the supervisor alone."""
    lie = SupervisorStatus(version="0.2.0", pid=7, ready=True, failed=("speaker", "link"))
    StatusFile(tmp_path).write(lie)
    monkeypatch.setenv("RUNTIME_DIRECTORY", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    well = SupervisorStatus(version="0.2.0", pid=7, state="idle", ready=True, healthy=True)
    says = RUNNING.format(line=systemd_line(well)).replace("NRestarts=2", "NRestarts=0")
    gate, reading = HealthCheck("0.2.0"), service(tmp_path, says).read_health()
    assert gate.evaluate(reading, 0.0) is None
    assert gate.evaluate(reading, STEADY_S) == ""
    assert "\nNotifyAccess=main\n" in (UNITS / "interlude.service").read_text()


@pytest.mark.parametrize("line", ["listening", "without link", "without the second opinion, words"])
def test_a_release_of_an_earlier_version_is_well_if_systemd_says_so(
    tmp_path: Path, line: str
) -> None:
    """It sends another line. The box may go back to it."""
    gate, reading = HealthCheck("0.0.9"), service(tmp_path, RUNNING.format(line=line)).read_health()
    assert gate.evaluate(HealthReading("active", 0, reading.status), 0.0) is None
    assert gate.evaluate(HealthReading("active", 0, reading.status), STEADY_S) == ""


@pytest.mark.parametrize("says", [RUNNING.format(line=""), RUNNING.replace("=7", "=0")])
def test_a_process_that_has_said_nothing_yet_is_not_well_yet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, says: str
) -> None:
    """Whatever its status file says, which every part may write."""
    StatusFile(tmp_path).write(STATUS)
    monkeypatch.setenv("RUNTIME_DIRECTORY", str(tmp_path))
    assert service(tmp_path, says).read_health().status is None


def test_the_unit_of_an_update_lasts_longer_than_all_tries_of_a_security_update() -> None:
    """A part that hangs on purpose would otherwise have systemd end the installer."""
    text = (UNITS / "interlude-update.service").read_text()
    limit = re.search(r"^TimeoutStartSec=(\d+)min$", text, re.MULTILINE)
    assert limit
    assert 60 * int(limit[1]) > WAIT_S + SECURITY_TRIES * (TRY_OUT_S + READING_PATIENCE_S)


@pytest.mark.parametrize("does", ["kill -9 $$", "kill -15 $$", "exit 130"])
def test_a_self_test_that_another_process_ended_is_told_from_one_that_failed(
    tmp_path: Path, does: str
) -> None:
    script(tmp_path / "bin/interlude", does)
    with pytest.raises(SelfTestInterrupted):
        SystemdTarget().run_selftest(tmp_path)
    script(tmp_path / "bin/interlude", "exit 1")
    with pytest.raises(ReleaseRefused) as failed:
        SystemdTarget().run_selftest(tmp_path)
    assert not isinstance(failed.value, SelfTestInterrupted)


@pytest.mark.parametrize(
    ("says", "activity"),
    [
        ("ActiveState=activating\\n", "starting"),
        ("ActiveState=failed\\n", "failed"),
        ("ActiveState=inactive\\n", "stopped"),
        ("ActiveState=deactivating\\n", "stopped"),
        ("", "stopped"),
    ],
)
def test_a_box_that_does_not_run_is_reported_with_its_activity(
    tmp_path: Path, says: str, activity: str
) -> None:
    assert service(tmp_path, says).read_health().activity == activity


def test_a_restart_resets_earlier_failures_and_does_not_block(tmp_path: Path) -> None:
    service(tmp_path).restart()
    assert (tmp_path / "asked").read_text().splitlines() == [
        "reset-failed interlude.service",
        "restart --no-block interlude.service",
    ]


def test_a_refusal_by_systemd_is_reported(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="Are you root"):
        service(tmp_path, code=4).restart()


def test_a_machine_without_systemd_is_reported(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="cannot be asked"):
        SystemdTarget(str(tmp_path / "none")).read_health()


def test_a_release_that_passes_its_self_test_may_be_tried(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    script(tmp_path / "bin/interlude", f'echo "$@" >{tmp_path}/asked')
    SystemdTarget().run_selftest(tmp_path)


@pytest.mark.parametrize(
    ("does", "match"),
    [("echo 'no module named soxr' >&2; exit 1", "no module named soxr"), ("exit 9", "code 9")],
)
def test_a_release_that_fails_its_self_test_is_refused(
    tmp_path: Path, does: str, match: str
) -> None:
    script(tmp_path / "bin/interlude", does)
    with pytest.raises(ReleaseRefused, match=match):
        SystemdTarget().run_selftest(tmp_path)


def test_a_self_test_that_does_not_end_is_refused_after_its_timeout(tmp_path: Path) -> None:
    """As interrupted: a part can stop the processes of its user."""
    script(tmp_path / "bin/interlude", "exec sleep 600")
    with pytest.raises(SelfTestInterrupted, match=r"did not end within 0\.2 s"):
        SystemdTarget(selftest_s=0.2).run_selftest(tmp_path)


def test_on_a_box_the_self_test_covers_the_page_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    own = {"HOME": "/root", "XDG_CONFIG_HOME": "/root/.config", "LANG": "C.UTF-8"}
    environment = selftest_environment(own, "/var/lib/interlude")
    assert "XDG_CONFIG_HOME" not in environment
    monkeypatch.delenv("STATE_DIRECTORY", raising=False)
    assert "page" not in {row.name for row in rows_to_run(load_defaults())}
    for key, value in environment.items():
        monkeypatch.setenv(key, value)
    assert "page" in {row.name for row in rows_to_run(load_defaults())}


def test_outside_a_box_the_self_test_uses_the_environment_of_no_service() -> None:
    own = {"HOME": "/root", "XDG_CONFIG_HOME": "/root/.config"}
    assert selftest_environment(own, "") == {"HOME": "/root"}


def test_a_release_that_cannot_be_started_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ReleaseRefused, match="cannot be started"):
        SystemdTarget().run_selftest(tmp_path)
