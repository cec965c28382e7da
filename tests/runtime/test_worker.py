"""A worker gets its rings, channels and heartbeat from its wiring data and descriptors."""

from __future__ import annotations

import logging
import os
import select
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import numpy as np
import pytest

from appliance.background_file import write_private
from appliance.messages.commands import Ask, SetVolume
from appliance.messages.registry import ObservedMessage
from appliance.messages.thinking import Think
from appliance.runtime import process_table
from appliance.runtime.ipc.floor import Floor
from appliance.runtime.ipc.heartbeat import Heartbeat
from appliance.runtime.supervision.ipc_resources import IpcResources
from appliance.runtime.worker import Worker
from appliance.settings import adjusted, load

ROWS = tuple(process_table.row(name) for name in ("conductor", "capture", "listener"))


class Joined:
    """The supervisor's resources, and workers with duplicated descriptors, as processes have."""

    def __init__(self, folder: Path) -> None:
        self.settings = load(Path("/dev/null"), {"state_dir": str(folder)})
        self.resources = IpcResources(ROWS, watchers=("room",))
        self.heart = Heartbeat(self.resources.heartbeat_fd, 1)
        self.heart.reset(0)

    def worker(self, name: str) -> Worker:
        wiring, _ = self.resources.for_process(name)
        ends = msgspec.convert(wiring["channel_fds"], dict[str, int])
        wiring["channel_fds"] = {peer: os.dup(fd) for peer, fd in ends.items()}
        payload = {**wiring, "settings": msgspec.to_builtins(self.settings), "box_started_s": 7.0}
        sent = msgspec.json.decode(
            msgspec.json.encode(payload)
        )  # as it is passed in the environment
        return Worker(name, sent)


@pytest.fixture
def joined(tmp_path: Path) -> Iterator[Joined]:
    made = Joined(tmp_path)
    yield made
    made.resources.close()


def test_a_worker_has_its_row_and_the_settings_of_the_box(joined: Joined) -> None:
    worker = joined.worker("capture")
    assert (worker.name, worker.row) == ("capture", process_table.row("capture"))
    assert worker.settings == worker.files == joined.settings
    assert worker.box_started_s == 7.0


def test_adjusted_settings_take_effect_and_the_files_settings_are_kept_separately(
    joined: Joined, tmp_path: Path
) -> None:
    stored = msgspec.json.encode({"version": 1, "volume": {"value": 0.43, "file": 0.8}})
    write_private(tmp_path / adjusted.FILE, stored)
    worker = joined.worker("capture")
    assert (worker.settings.speaking.volume, worker.files.speaking.volume) == (0.43, 0.8)


def test_only_the_conductor_has_a_channel_to_every_process(joined: Joined) -> None:
    assert set(joined.worker("conductor").channels) == {"capture", "listener", "supervisor", "room"}
    assert set(joined.worker("capture").channels) == {"conductor"}


def test_messages_pass_in_both_directions(joined: Joined) -> None:
    capture, conductor = joined.worker("capture"), joined.worker("conductor")
    assert capture.send(SetVolume(0.5))
    assert conductor.pop_messages("capture") == [SetVolume(0.5)]
    conductor.channels["capture"].send(Think(1))
    assert capture.pop_messages() == [Think(1)]


def test_invalid_data_is_logged_once_a_kind_and_copies_are_not_delivered(
    joined: Joined, caplog: pytest.LogCaptureFixture
) -> None:
    worker = joined.worker("capture")
    far = joined.resources.ends["capture"][1]
    with caplog.at_level(logging.WARNING):
        for data in (b"\xff\x00", b"\xff\x00", b"\xc0"):
            far.send(data)
        joined.worker("conductor").channels["capture"].send(
            ObservedMessage(0, "room", "conductor", Ask("hello"))
        )
        assert worker.pop_messages() == []
    assert caplog.text.count("bad message from conductor") == 2


def test_a_ring_is_written_by_one_worker_and_read_by_another(joined: Joined) -> None:
    writer = joined.worker("capture").writer("mic")
    reader = joined.worker("listener").reader("mic")
    writer.write(np.full(80, 5, np.int16), index=1600)
    slot = reader.read()
    assert slot is not None
    assert (slot.index, int(slot.samples[0])) == (1600, 5)


@pytest.mark.parametrize("name", ["voice", "played"])
def test_a_ring_outside_the_workers_row_is_refused(joined: Joined, name: str) -> None:
    with pytest.raises(KeyError):
        joined.worker("capture").writer(name)


def test_all_workers_share_one_floor(joined: Joined) -> None:
    joined.worker("conductor").floor.turn = 41
    assert joined.worker("capture").floor.turn == Floor(joined.resources.floor_fd).turn == 41


def test_a_worker_has_its_own_heartbeat_and_is_ready_when_it_reports_so(joined: Joined) -> None:
    worker = joined.worker("capture")
    assert not joined.heart.is_ready
    worker.report_loading()
    assert (joined.heart.is_loading, joined.heart.is_ready) == (True, False)
    worker.report_ready()
    assert (joined.heart.is_loading, joined.heart.is_ready) == (False, True)
    assert joined.heart.age_s(time.monotonic_ns()) < 10.0
    assert not Heartbeat(joined.resources.heartbeat_fd, 2).is_ready


def test_a_stop_wakes_pollers_and_can_be_requested_any_number_of_times(joined: Joined) -> None:
    worker = joined.worker("capture")
    waiting = select.poll()
    waiting.register(worker.stop_fd, select.POLLIN)
    assert waiting.poll(0) == []
    for _ in range(70_000):  # more than a pipe holds
        worker.stop()
    assert worker.stopping
    assert waiting.poll(0) != []
