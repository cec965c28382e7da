"""A card that is unplugged and plugged in again, or that is missing from the start."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest

from appliance import settings
from appliance.audio.hotplug import StreamHousekeeping, keep_open
from appliance.messages.commands import BoxStatus, StateChanged, StatusWanted
from appliance.messages.playback import (
    CardFound,
    CardLost,
    PlaybackFinished,
    PlaybackStarted,
)
from tests.audio.rig import RATE_HZ, noise, rig_on
from tests.audio.sounds import DEEP, joined, said, shift_of
from tests.dialog.desk import Desk
from tests.supervised import PlayedParts, kill_and_wait

if TYPE_CHECKING:
    from appliance.runtime.worker import Worker

pytestmark = [pytest.mark.process, pytest.mark.usefixtures("simcard_library")]


def test_a_card_that_is_unplugged_and_plugged_in_again_is_found(tmp_path: Path) -> None:
    with rig_on(tmp_path, **DEEP) as rig:
        turn = rig.fresh()
        rig.say(turn, noise(RATE_HZ))
        rig.wait(PlaybackStarted)
        rig.run(0.1)
        pids = [part.child.pid for part in rig.supervisor.parts.values() if part.child]
        rig.card.unplug()
        for direction in ("capture", "playback"):
            assert '"sim"' in rig.wait(CardLost, direction=direction).problem
        rig.card.set_busy(True)
        rig.card.plug()
        rig.until(lambda: any("in use" in m.problem for m in rig.of(CardLost)), what="busy")
        rig.card.set_busy(False)
        for direction in ("capture", "playback"):
            rig.wait(CardFound, direction=direction)
        assert rig.wait(PlaybackFinished).position == RATE_HZ  # the answer continued
        sound = noise(800)
        index = said(rig, sound)
        assert abs(shift_of(joined(rig.mic_slots, index - 100, index + 900), sound, 100)) <= 2
        assert pids == [part.child.pid for part in rig.supervisor.parts.values() if part.child]


def test_a_missing_card_is_reported_once_and_the_processes_wait_for_it(tmp_path: Path) -> None:
    with rig_on(tmp_path, started=False, capture="nobody", playback="nobody") as rig:
        rig.until(lambda: rig.supervisor.is_ready, what="ready")
        lost = rig.wait(CardLost, direction="capture")
        assert lost.problem.startswith('There is no sound card "nobody".')
        rig.wait(CardLost, direction="playback")
        rig.run(1.1)  # two more attempts
        assert len(rig.of(CardLost)) == 2
        assert rig.supervisor.healthy


def test_the_state_of_the_card_is_reported_again_on_request(tmp_path: Path) -> None:
    with rig_on(tmp_path, **DEEP) as rig:
        rig.fresh()
        rig.send(StatusWanted(), "capture", "playback")
        for direction in ("capture", "playback"):
            rig.wait(CardFound, direction=direction)
        rig.card.unplug()
        for direction in (
            "capture",
            "playback",
        ):  # first the loss is reported, then that there is no card
            newest = rig.wait(CardLost, 2, direction=direction)
            rig.send(StatusWanted(), direction)
            assert rig.wait(CardLost, 3, direction=direction) == newest


def test_a_restarted_conductor_learns_that_the_card_is_missing(tmp_path: Path) -> None:
    chosen = {"card": {"capture": "nobody", "playback": "nobody"}, "state_dir": str(tmp_path)}
    parts = ("conductor", "capture", "playback")
    box = PlayedParts(settings.load(None, chosen), parts, ("listener", "speaker", "panel"))
    try:
        until_it_fails(box)
        kill_and_wait(box.pid("conductor"))
        box.drop_mail()
        until_it_fails(box)
        while box.get("panel", BoxStatus).broken != ("the loudspeaker", "the microphone"):
            continue
    finally:
        box.close()


def until_it_fails(box: PlayedParts) -> None:
    while box.get("room", StateChanged).state != "failed":
        continue


class DeskAtCard(Desk):
    """`came`: the folder that comes into being at the second beat."""

    stopping = False

    def __init__(self, came: Path, chosen: settings.Settings) -> None:
        super().__init__("capture", chosen)
        self._came, self._beats = came, 0

    def report_ready(self) -> None: ...

    def beat(self) -> None:
        self._beats += 1
        if self._beats == 2:
            self._came.mkdir()


def test_a_machine_that_gets_its_first_card_starts_the_process_again(tmp_path: Path) -> None:
    """Its domain has no folder of cards if there was none; without one it waits for the card."""
    desk = DeskAtCard(tmp_path / "snd", settings.load(None, {"card": {"capture": "nobody"}}))
    worker = cast("Worker", desk)
    housekeeping = StreamHousekeeping(worker, "capture", lambda _: None)
    keep_open(worker, "capture", housekeeping, lambda _: None, tmp_path / "snd")
    assert (tmp_path / "snd").is_dir()
    assert [type(message) for message in desk.sent] == [CardLost]
    desk.close()
