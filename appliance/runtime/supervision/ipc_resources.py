"""Shared memory and sockets between the processes: made once before the first process starts.

They outlive each process: a restarted one finds its rings, its messages and the floor unchanged.
"""

from __future__ import annotations

import os
import socket
from dataclasses import asdict, replace

from appliance.runtime import process_table
from appliance.runtime.ipc import floor, heartbeat, ring_handles
from appliance.runtime.ipc.channel import Channel, pair
from appliance.runtime.ipc.ring_handles import RingSpec


class IpcResources:
    """The rings, the floor, the heartbeats, and the channels between the conductor and each
    peer."""

    def __init__(
        self,
        rows: tuple[process_table.Process, ...],
        watchers: tuple[str, ...],
        rings: tuple[RingSpec, ...] = process_table.RINGS,
    ) -> None:
        self._rows = {row.name: row for row in rows}
        self.floor_fd = floor.create()
        self.heartbeat_fd = heartbeat.create(len(rows))
        self.rings = {  # a test may watch a ring under the name of its reader
            spec.name: ring_handles.create(
                replace(spec, readers=tuple(dict.fromkeys(spec.readers + watchers)))
            )
            for spec in rings
        }
        peers = [row.name for row in rows if row.name != "conductor"] + ["supervisor", *watchers]
        self.ends: dict[str, tuple[socket.socket, socket.socket]] = {p: pair() for p in peers}

    def channel(self, peer: str) -> Channel:
        """The end of the channel to the conductor that belongs to `peer`."""
        return Channel(self.ends[peer][0])

    def for_process(self, name: str) -> tuple[dict[str, object], tuple[int, ...]]:
        """The wiring of process `name` as plain data, and the descriptors that it inherits."""
        if name == "conductor":
            ends = {peer: end[1].fileno() for peer, end in self.ends.items()}
        else:
            ends = {"conductor": self.ends[name][0].fileno()}
        row_rings = (*process_table.rings_read_by(name), *process_table.rings_written_by(name))
        own_rings = {row.name: self.rings[row.name] for row in row_rings if row.name in self.rings}
        fds = [self.floor_fd, self.heartbeat_fd, *ends.values()]
        for handles in own_rings.values():
            fds.extend(handles.fds)
        wiring: dict[str, object] = {
            "row": asdict(self._rows[name]),
            "floor_fd": self.floor_fd,
            "heartbeat_fd": self.heartbeat_fd,
            "heartbeat_slot": list(self._rows).index(name),
            "channel_fds": ends,
            "rings": {
                ring_name: ring_handles.to_wire(handles) for ring_name, handles in own_rings.items()
            },
        }
        return wiring, tuple(fds)

    def close(self) -> None:
        """Close every descriptor."""
        for handles in self.rings.values():
            handles.close()
        for ends in self.ends.values():
            for end in ends:
                end.close()
        for fd in (self.floor_fd, self.heartbeat_fd):
            os.close(fd)
