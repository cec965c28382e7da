"""Each process inherits the IPC resources of its row in the table, and no others."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from appliance.messages.commands import Ask
from appliance.runtime import process_table
from appliance.runtime.ipc.channel import Channel
from appliance.runtime.supervision.ipc_resources import IpcResources

ROWS = process_table.PROCESSES
NAMES = [row.name for row in ROWS]


@pytest.fixture
def resources() -> Iterator[IpcResources]:
    made = IpcResources(ROWS, watchers=("room",))
    yield made
    made.close()


def wiring(resources: IpcResources, name: str) -> dict[str, Any]:
    return resources.for_process(name)[0]


@pytest.mark.parametrize("name", NAMES)
def test_a_process_gets_the_rings_of_its_row_only(resources: IpcResources, name: str) -> None:
    mine = {ring.name for ring in process_table.rings_read_by(name)}
    mine |= {ring.name for ring in process_table.rings_written_by(name)}
    assert set(wiring(resources, name)["rings"]) == mine


@pytest.mark.parametrize("name", NAMES)
def test_every_descriptor_in_the_wiring_is_open_and_inherited(
    resources: IpcResources, name: str
) -> None:
    wired, fds = resources.for_process(name)
    assert all(os.fstat(fd) for fd in fds)
    assert {wired["floor_fd"], wired["heartbeat_fd"]} < set(fds)


def test_each_process_has_its_own_heartbeat_slot(resources: IpcResources) -> None:
    assert [wiring(resources, name)["heartbeat_slot"] for name in NAMES] == list(range(len(NAMES)))


def test_a_process_has_a_channel_to_the_conductor_and_the_conductor_to_all(
    resources: IpcResources,
) -> None:
    assert set(wiring(resources, "capture")["channel_fds"]) == {"conductor"}
    peers = {*NAMES, "supervisor", "room"} - {"conductor"}
    assert set(wiring(resources, "conductor")["channel_fds"]) == peers


def test_a_message_of_a_peer_arrives_at_the_conductors_end(resources: IpcResources) -> None:
    resources.channel("room").send(Ask("hello"))
    assert Channel(resources.ends["room"][1]).receive() == Ask("hello")
    assert Channel(resources.ends["capture"][1]).receive() is None


def test_a_watcher_reads_every_ring_and_is_not_added_twice() -> None:
    made = IpcResources(ROWS, watchers=("room", "listener"))
    wired = made.for_process("capture")[0]
    rings: Any = wired["rings"]
    assert set(rings["mic"]["bell_fds"]) == {"listener", "room"}
    made.close()


def test_closing_releases_every_descriptor() -> None:
    gc.collect()  # else what earlier tests left may be closed meanwhile
    before = len(list(Path("/proc/self/fd").iterdir()))
    IpcResources(ROWS, watchers=("room",)).close()
    assert len(list(Path("/proc/self/fd").iterdir())) == before
