"""The box status: sent on every change and to each part that comes up, and never twice."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from appliance.dialog.listening_state import ListeningState
from appliance.dialog.state import DialogState
from appliance.dialog.status_publisher import STATUS_RECEIVERS, StatusPublisher
from appliance.messages.commands import (
    BoxStatus,
    BrokerChanged,
    ButtonFault,
    ButtonPressed,
    StateChanged,
    VoicesAvailable,
)
from appliance.messages.registry import Mail, Message
from appliance.messages.speech import SpeakerReady
from appliance.messages.supervision import PartChanged
from appliance.messages.thinking import ThinkerReady
from appliance.messages.tools import TimersStatus
from appliance.runtime.ipc import channel
from appliance.runtime.ipc.channel import Channel
from appliance.runtime.worker import Worker
from appliance.settings import load
from tests.dialog.desk import Desk

TIMERS = TimersStatus(timers=1)


class Publishing:
    """A publisher with real channels to the status receivers and two other parts."""

    def __init__(self, folder: Path, watchers: list[str], **changes: Any) -> None:
        desk = Desk("conductor", load(Path("/dev/null"), {"state_dir": str(folder), **changes}))
        self.desk = desk
        self.ends = {part: channel.pair() for part in (*STATUS_RECEIVERS, "listener", "speaker")}
        worker = cast("Any", desk)
        worker.channels = {part: Channel(near) for part, (near, _) in self.ends.items()}
        self.publisher = StatusPublisher(cast("Worker", worker), watchers)
        self.state = DialogState()

    def __call__(self, message: Message | None = None, *, storage: bool = False) -> None:
        if message is not None:
            self.publisher.on_message(message)
        self.publisher.publish(message, self.state, TIMERS, storage=storage)

    def got(self, part: str) -> list[Mail]:
        return list(Channel(self.ends[part][1]).receive_all())

    def status(self, part: str) -> BoxStatus:
        """The status this part received as its only message."""
        (only,) = self.got(part)
        assert isinstance(only, BoxStatus)
        return only

    def close(self) -> None:
        self.desk.close()
        for near, far in self.ends.values():
            near.close()
            far.close()


Begin = Callable[..., Publishing]


@pytest.fixture
def begin(tmp_path: Path) -> Iterator[Begin]:
    made: list[Publishing] = []

    def publishing(*watchers: str, **changes: Any) -> Publishing:
        made.append(Publishing(tmp_path, list(watchers), **changes))
        return made[-1]

    yield publishing
    for each in made:
        each.close()


def test_status_receivers_get_the_status_on_changes_only(begin: Begin) -> None:
    it = begin()
    it()
    assert all(it.status(part).starting for part in STATUS_RECEIVERS)
    it()
    assert [it.got(part) for part in STATUS_RECEIVERS] == [[]] * len(STATUS_RECEIVERS)
    it.state = replace(it.state, parts=it.state.parts.set_thinker(up=True))
    it()
    assert not any(it.status(part).starting for part in STATUS_RECEIVERS)
    assert it.got("speaker") == []


def test_a_watcher_does_not_receive_the_status_twice(begin: Begin) -> None:
    watcher = sorted(STATUS_RECEIVERS)[0]
    it = begin(watcher)
    it()
    assert it.got(watcher) == []
    others = [part for part in STATUS_RECEIVERS if part != watcher]
    assert [len(it.got(part)) for part in others] == [1] * len(others)


def test_a_part_that_the_box_does_not_have_receives_nothing(begin: Begin) -> None:
    it = begin()
    del cast("Any", it.desk).channels["panel"]
    it()
    assert it.got("panel") == []
    assert len(it.got("link")) == 1


def test_a_part_that_comes_up_receives_state_status_and_timers(begin: Begin) -> None:
    it = begin()
    it()
    for part in STATUS_RECEIVERS:
        it.got(part)
    it(PartChanged("link", "up"))
    state, status, timers = it.got("link")
    assert isinstance(state, StateChanged)
    assert (state.state, state.reason) == ("idle", "as it was")
    assert isinstance(status, BoxStatus)
    assert timers == TIMERS
    assert it.got("panel") == []


def test_a_listener_that_comes_up_receives_the_state_only(begin: Begin) -> None:
    it = begin()
    it.state = replace(it.state, state="speaking", turn=7)
    it()
    it(PartChanged("listener", "up"))
    (state,) = it.got("listener")
    assert isinstance(state, StateChanged)
    assert (state.state, state.turn, state.reason) == ("speaking", 7, "as it was")
    it(PartChanged("listener", "down"))
    it(PartChanged("speaker", "up"))
    assert (it.got("listener"), it.got("speaker")) == ([], [])


@pytest.mark.parametrize(
    ("news", "field", "value"),
    [
        (ThinkerReady("gemma"), "model", "gemma"),
        (SpeakerReady("espeak"), "voice", "espeak"),
        (VoicesAvailable(("amy", "joe")), "voices", ("amy", "joe")),
        (BrokerChanged(here=True), "house", True),
        (ButtonFault("stuck"), "button", "stuck"),
    ],
)
def test_what_a_part_reports_about_itself_is_in_the_status(
    begin: Begin, news: Message, field: str, value: object
) -> None:
    it = begin(link={"broker": "house.local"})
    it()
    assert getattr(it.status("panel"), field) != value
    it(news)
    assert getattr(it.status("panel"), field) == value


@pytest.mark.parametrize(("broker", "house"), [("", None), ("house.local", False)])
def test_a_missing_broker_setting_differs_from_an_unreachable_broker(
    begin: Begin, broker: str, house: bool | None
) -> None:
    it = begin(link={"broker": broker})
    it()
    assert it.status("panel").house is house


@pytest.mark.parametrize("state", ["down", "failed"])
def test_without_a_link_the_broker_is_reported_as_unreachable(begin: Begin, state: Any) -> None:
    it = begin(link={"broker": "house.local"})
    it(BrokerChanged(here=True))
    assert it.status("panel").house is True
    it(PartChanged("link", state))
    assert it.status("panel").house is False


@pytest.mark.parametrize("state", ["down", "failed"])
def test_a_button_fault_is_cleared_when_its_panel_goes_down(begin: Begin, state: Any) -> None:
    it = begin()
    it(ButtonFault("stuck"))
    assert it.status("link").button == "stuck"
    it(PartChanged("panel", state))
    assert it.status("link").button == ""


def test_a_failed_thinker_is_shown_as_broken_and_not_as_starting(begin: Begin) -> None:
    it = begin()
    it.state = replace(it.state, parts=it.state.parts.fail("thinker", needed=False))
    it()
    status = it.status("panel")
    assert (status.broken, status.starting) == (("thinker",), False)


def test_the_status_volume_is_the_last_one_set_or_else_that_of_the_settings(begin: Begin) -> None:
    it = begin(speaking={"volume": 0.3})
    it()
    assert it.status("panel").volume == 0.3
    it.state = replace(it.state, volume=0.7)
    it()
    assert it.status("panel").volume == 0.7


def test_mute_switch_and_storage_are_separate_in_the_status(begin: Begin) -> None:
    it = begin()
    it.state = replace(it.state, listening=ListeningState(muted=True))
    it.desk.floor.switched_off = True
    it(storage=True)
    status = it.status("panel")
    assert (status.muted, status.cut, status.storage) == (True, True, True)


def test_house_events_go_to_the_link_only(begin: Begin) -> None:
    it = begin()
    it()
    for part in STATUS_RECEIVERS:
        it.got(part)
    pressed = ButtonPressed("press")
    it(pressed)
    assert it.got("link") == [pressed]
    assert it.got("panel") == []
