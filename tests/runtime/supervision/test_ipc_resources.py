"""What joins the processes: each inherits what its row of the table says, and nothing of others."""

from __future__ import annotations

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
def test_a_process_has_the_rings_of_its_row_and_no_other(
    resources: IpcResources, name: str
) -> None:
    mine = {ring.name for ring in process_table.rings_read_by(name)}
    mine |= {ring.name for ring in process_table.rings_written_by(name)}
    assert set(wiring(resources, name)["rings"]) == mine


@pytest.mark.parametrize("name", NAMES)
def test_all_that_it_is_told_of_is_open_and_inherited(resources: IpcResources, name: str) -> None:
    told, fds = resources.for_process(name)
    assert all(os.fstat(fd) for fd in fds)
    assert {told["floor_fd"], told["heartbeat_fd"]} < set(fds)


def test_everybody_has_a_heartbeat_of_its_own(resources: IpcResources) -> None:
    assert [wiring(resources, name)["heartbeat_slot"] for name in NAMES] == list(range(len(NAMES)))


def test_a_process_speaks_with_the_conductor_and_the_conductor_with_all(
    resources: IpcResources,
) -> None:
    assert set(wiring(resources, "capture")["channel_fds"]) == {"conductor"}
    peers = {*NAMES, "supervisor", "room"} - {"conductor"}
    assert set(wiring(resources, "conductor")["channel_fds"]) == peers


def test_what_a_peer_sends_comes_out_at_the_conductors_end(resources: IpcResources) -> None:
    resources.channel("room").send(Ask("hello"))
    assert Channel(resources.ends["room"][1]).receive() == Ask("hello")
    assert Channel(resources.ends["capture"][1]).receive() is None


def test_who_watches_reads_every_ring_and_a_reader_that_watches_is_no_second_one() -> None:
    made = IpcResources(ROWS, watchers=("room", "listener"))
    told = made.for_process("capture")[0]
    rings: Any = told["rings"]
    assert set(rings["mic"]["bell_fds"]) == {"listener", "room"}
    made.close()


def test_in_the_end_every_descriptor_is_given_back() -> None:
    before = len(list(Path("/proc/self/fd").iterdir()))
    IpcResources(ROWS, watchers=("room",)).close()
    assert len(list(Path("/proc/self/fd").iterdir())) == before
