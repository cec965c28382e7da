"""The two slots as the firmware, the image's layout and the kernel's command line name them."""

from __future__ import annotations

from pathlib import Path

import pytest

from appliance.errors import StorageError
from appliance.update.system.slot import SLOTS, autoboot, cmdline, named, other, starts
from appliance.update.system.target import PiTarget, runs_from, version
from image import layout


def test_the_box_and_the_image_mean_the_same_partitions() -> None:
    assert {slot.name: (slot.boot, slot.system) for slot in SLOTS.values()} == layout.SLOTS
    for slot in SLOTS.values():
        assert slot.number == layout.number(slot.boot)
        assert autoboot(slot.name) == layout.autoboot(slot.name)


def test_what_is_written_is_read_and_a_commit_changes_no_length() -> None:
    for name in SLOTS:
        assert starts(autoboot(name)) == name
        assert len(autoboot(name)) == len(autoboot(other(name)))
    assert autoboot("a") != autoboot("b")


@pytest.mark.parametrize("text", ["", "boot_partition=7\n", "[tryboot]\nboot_partition=2\n"])
def test_a_file_that_names_no_slot_is_said(text: str) -> None:
    with pytest.raises(StorageError, match="names no system slot"):
        starts(text)


def test_a_command_line_is_made_for_either_slot() -> None:
    shipped = (Path(__file__).parents[3] / "image/boot/cmdline.txt.in").read_text()
    a = shipped.replace("@SYSTEM@", "system_a").replace("@SLOT@", "a")
    b = cmdline(a, "b")
    assert b == shipped.replace("@SYSTEM@", "system_b").replace("@SLOT@", "b")
    assert (cmdline(b, "a"), cmdline(a, "a")) == (a, a)
    assert (named(a), named(b), named("root=/dev/sda1 quiet")) == ("a", "b", None)
    assert len(a) <= 512  # one sector, so that it can be changed in place


def test_the_machine_tells_its_slot_and_version(tmp_path: Path) -> None:
    (tmp_path / "cmdline").write_text("root=PARTLABEL=system_b interlude.slot=b\n")
    release = tmp_path / "os-release"
    release.write_text('ID=debian\nIMAGE_ID="interlude"\nIMAGE_VERSION="0.2.0"\n')
    pi = PiTarget(tmp_path, "true", tmp_path / "cmdline", release, tmp_path / "start")
    assert (pi.slot(), pi.version()) == ("b", "0.2.0")
    (tmp_path / "start").mkdir()
    (tmp_path / "start/slot").write_text("a\n")  # the other's root could not be used
    assert pi.slot() == "a"


def test_only_raspberry_pis_own_kernel_passes_a_trial_on(tmp_path: Path) -> None:
    pi = PiTarget(firmware=tmp_path / "vcio")
    assert not pi.supports_tryboot()
    (tmp_path / "vcio").touch()
    assert pi.supports_tryboot()


def test_another_system_has_neither(tmp_path: Path) -> None:
    (tmp_path / "os-release").write_text("ID=raspbian\nIMAGE_VERSION=9\n")
    assert version(tmp_path / "os-release") is None
    assert version(tmp_path / "gone") is None
    with pytest.raises(StorageError, match="no system slots"):
        runs_from(None)


@pytest.mark.process
@pytest.mark.parametrize("trial", [True, False])
def test_a_new_start_is_asked_of_systemd_with_the_firmwares_words(
    tmp_path: Path, trial: bool
) -> None:
    systemctl = tmp_path / "systemctl"
    systemctl.write_text(f'#!/bin/sh\necho "$*" >>{tmp_path}/asked\n')
    systemctl.chmod(0o755)
    words = tmp_path / "reboot-param"
    words.write_text("of an earlier one\n")
    PiTarget(tmp_path, str(systemctl), words=words).reboot(trial=trial)
    asked = "start --no-block --job-mode=replace-irreversibly reboot.target\n"
    assert (tmp_path / "asked").read_text() == asked
    assert (words.read_text() if words.exists() else "") == ("0 tryboot\n" if trial else "")


def test_words_that_cannot_be_left_are_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="cannot be written"):
        PiTarget(tmp_path, "true", words=tmp_path / "none/reboot-param").reboot(trial=True)
