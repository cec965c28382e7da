"""Nothing is restarted during a conversation or shortly after it."""

from __future__ import annotations

from pathlib import Path

import pytest

from appliance.errors import InstallDeferred
from appliance.update.progress import unreported_progress
from appliance.update.release.store import ReleaseStore
from appliance.update.wait_until_idle import LOOK_S, QUIET_S, wait_for_quiet
from tests.update.release.workshop import PaperBox


@pytest.fixture
def box(tmp_path: Path) -> PaperBox:
    store = ReleaseStore(tmp_path / "opt", tmp_path / "run")
    store.folder("0.1.0").mkdir(parents=True)
    (store.folder("0.1.0") / "kind").write_text("good")
    return PaperBox(store, runs="0.1.0")


def test_an_idle_box_is_not_waited_for(box: PaperBox) -> None:
    began_s = box.time_s
    wait_for_quiet(box, 0.0, unreported_progress)
    assert box.time_s == began_s


def test_the_wait_ends_a_few_seconds_after_the_conversation(box: PaperBox) -> None:
    box.quiet_at_s = box.time_s + 40.0
    shown: list[float] = []
    wait_for_quiet(box, 900.0, lambda step, share: shown.append(share))
    assert abs(box.time_s - box.quiet_at_s - QUIET_S) <= LOOK_S
    assert shown == sorted(shown)
    assert shown[-1] <= 1.0


def test_a_pause_between_two_answers_does_not_end_the_wait(box: PaperBox) -> None:
    talks = [(0.0, 10.0), (10.0 + QUIET_S - 1.0, 20.0)]
    began_s, end_s = box.time_s, box.time_s + talks[-1][1]

    class Pausing(PaperBox):
        @property
        def quiet_at_s(self) -> float:  # when the current conversation ends
            past_s = self.time_s - began_s
            return next((began_s + to for at, to in talks if at <= past_s < to), 0.0)

        @quiet_at_s.setter
        def quiet_at_s(self, value: float) -> None:
            pass

    pausing = Pausing(box.store, runs="0.1.0")
    pausing.time_s = began_s
    wait_for_quiet(pausing, 900.0, unreported_progress)
    assert pausing.time_s >= end_s + QUIET_S - LOOK_S


@pytest.mark.parametrize("wait_s", [0.0, 60.0])
def test_an_endless_conversation_defers_the_installation_with_a_remedy(
    box: PaperBox, wait_s: float
) -> None:
    box.quiet_at_s = box.time_s + 4000.0
    began_s = box.time_s
    with pytest.raises(InstallDeferred, match="A conversation is under way") as put_off:
        wait_for_quiet(box, wait_s, unreported_progress)
    assert wait_s <= box.time_s - began_s <= wait_s + LOOK_S
    assert "ready to install" in put_off.value.remedy
