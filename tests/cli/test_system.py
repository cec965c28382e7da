"""`interlude system`: the state of both slots, and the combinations of its options."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from appliance.cli import system
from appliance.cli.system import slot_report
from appliance.errors import ReleaseRefused
from appliance.runtime.status import SupervisorStatus
from appliance.settings import load, load_defaults
from appliance.update.system.slot_state import (
    SlotContent,
    SlotStateFile,
    SlotTrial,
    SlotTrialResult,
)
from appliance.update.system.target import PiTarget


@pytest.fixture
def pi(tmp_path: Path) -> PiTarget:
    """A Pi that runs 0.1.0 from slot a."""
    (tmp_path / "cmdline").write_text("interlude.slot=a")
    release = tmp_path / "os-release"
    release.write_text("IMAGE_ID=interlude\nIMAGE_VERSION=0.1.0\n")
    return PiTarget("true", tmp_path / "cmdline", release, tmp_path / "start")


@pytest.fixture
def state(tmp_path: Path) -> SlotStateFile:
    made = SlotStateFile(tmp_path / "system")
    with made.locked():
        return made


def test_the_state_of_both_slots_can_be_read_without_rights(
    state: SlotStateFile, pi: PiTarget
) -> None:
    state.mark_complete("a", SlotContent("0.1.0"))
    state.mark_complete("b", SlotContent("0.2.0", "a" * 64))
    state.begin_trial(SlotTrial("b", "0.2.0", SupervisorStatus(pid=1)))
    assert slot_report(state, pi) == {
        "version": "0.1.0", "slot": "a", "slot_a": "0.1.0", "slot_b": "0.2.0",
        "trial": "0.2.0", "last": None, "problem": "",
    }  # fmt: skip
    state.end_trial(SlotTrialResult("0.2.0", "It did not come up."))
    found = slot_report(state, pi)
    assert (found["trial"], found["last"], found["problem"]) == (
        None, "0.2.0", "It did not come up.",
    )  # fmt: skip


def test_a_card_that_was_never_updated_reports_only_its_running_system(
    state: SlotStateFile, pi: PiTarget
) -> None:
    found = slot_report(state, pi)
    assert {name for name, value in found.items() if value} == {"version", "slot"}


@pytest.mark.parametrize(("file", "wanted"), [(None, False), (Path("x.system"), True)])
def test_install_takes_a_file_or_the_wanted_option_and_not_both(
    file: Path | None, wanted: bool
) -> None:
    args = argparse.Namespace(doing="install", file=file, wanted=wanted)
    with pytest.raises(ReleaseRefused, match="give --wanted, but not both"):
        system.cli(args, load_defaults)


def test_accept_says_where_nothing_is_handed_over(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = load(None, {"state_dir": str(tmp_path)})
    assert system.cli(argparse.Namespace(doing="accept"), lambda: settings) == 0
    assert "models are not handed over here" in capsys.readouterr().out
