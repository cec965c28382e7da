"""The machine on which a system is tried: its running slot, its version and how it restarts."""

from __future__ import annotations

from pathlib import Path

import pytest

from appliance.errors import StorageError
from appliance.update.system.target import PiTarget, runs_from, version


def test_the_slot_and_version_of_the_machine_are_read(tmp_path: Path) -> None:
    (tmp_path / "cmdline").write_text("root=PARTLABEL=system_b interlude.slot=b\n")
    release = tmp_path / "os-release"
    release.write_text('ID=debian\nIMAGE_ID="interlude"\nIMAGE_VERSION="0.2.0"\n')
    pi = PiTarget("true", tmp_path / "cmdline", release, tmp_path / "start")
    assert (pi.slot(), pi.version()) == ("b", "0.2.0")
    (tmp_path / "start").mkdir()
    (tmp_path / "start/slot").write_text("a\n")  # the root of the other slot could not be used
    assert pi.slot() == "a"


def test_only_the_kernel_of_raspberry_pi_supports_tryboot(tmp_path: Path) -> None:
    pi = PiTarget(firmware=tmp_path / "vcio")
    assert not pi.supports_tryboot()
    (tmp_path / "vcio").touch()
    assert pi.supports_tryboot()


def test_another_system_has_neither_slot_nor_version(tmp_path: Path) -> None:
    (tmp_path / "os-release").write_text("ID=raspbian\nIMAGE_VERSION=9\n")
    assert version(tmp_path / "os-release") is None
    assert version(tmp_path / "gone") is None
    with pytest.raises(StorageError, match="no system slots"):
        runs_from(None)


@pytest.mark.process
@pytest.mark.parametrize("trial", [True, False])
def test_a_reboot_is_requested_from_systemd_with_the_firmware_argument(
    tmp_path: Path, trial: bool
) -> None:
    systemctl = tmp_path / "systemctl"
    systemctl.write_text(f'#!/bin/sh\necho "$*" >>{tmp_path}/asked\n')
    systemctl.chmod(0o755)
    words = tmp_path / "reboot-param"
    words.write_text("of an earlier one\n")
    PiTarget(str(systemctl), reboot_argument=words).reboot(trial=trial)
    asked = "start --no-block --job-mode=replace-irreversibly reboot.target\n"
    assert (tmp_path / "asked").read_text() == asked
    assert (words.read_text() if words.exists() else "") == ("0 tryboot\n" if trial else "")


def test_a_reboot_argument_that_cannot_be_written_is_reported(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="cannot be written"):
        PiTarget("true", reboot_argument=tmp_path / "none/reboot-param").reboot(trial=True)
