"""A simulated kernel GPIO chip with gpiod's interface, for machines without one: its objects have
the same calls and settings and raise the same errors as the real ones."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import gpiod
from gpiod.line import Bias, Direction, Edge, Value


@dataclass
class Wire:
    """One line: its request, its settings and its electrical level."""

    number: int
    settings: gpiod.LineSettings = field(default_factory=gpiod.LineSettings)
    external: bool | None = None  # level that the external wiring pulls to; None: not wired
    request: Request | None = None

    @property
    def level(self) -> bool:
        if self.settings.direction is Direction.OUTPUT:
            return bool(self.settings.output_value is Value.ACTIVE)
        return self.external if self.external is not None else self.settings.bias is Bias.PULL_UP

    def pull(self, up: bool | None, at_ns: int | None = None) -> None:
        """Change the external level. An edge that the request detects becomes an event."""
        was, self.external = self.level, up
        detected = self.settings.edge_detection
        wanted = {Edge.BOTH, Edge.RISING if self.level else Edge.FALLING}
        if self.level != was and self.request is not None and detected in wanted:
            now = time.monotonic_ns() if at_ns is None else at_ns
            kind = gpiod.EdgeEvent.Type.RISING_EDGE if self.level else _FALLING
            self.request.put(gpiod.EdgeEvent(kind.value, now, self.number, 0, 0))


_FALLING = gpiod.EdgeEvent.Type.FALLING_EDGE


class Request:
    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self.fd, self._write_fd = os.pipe()
        self._events: list[gpiod.EdgeEvent] = []
        self.released = False
        self.gone = False

    def vanish(self) -> None:
        """Simulate removal of the chip: the descriptor becomes readable, and every call fails."""
        self.gone = True
        os.write(self._write_fd, b"!")

    def put(self, event: gpiod.EdgeEvent) -> None:
        self._events.append(event)
        os.write(self._write_fd, b"e")

    def reconfigure_lines(self, config: dict[int, gpiod.LineSettings]) -> None:
        self._check()
        ((number, settings),) = config.items()
        if number != self._wire.number:
            raise OSError(errno.EINVAL, "Invalid argument")
        self._wire.settings = settings

    def get_value(self, number: int) -> Value:
        self._check()
        assert number == self._wire.number
        return Value.ACTIVE if self._wire.level else Value.INACTIVE

    def set_value(self, number: int, value: Value) -> None:
        self._check()
        if self._wire.settings.direction is not Direction.OUTPUT:
            raise OSError(errno.EPERM, "Operation not permitted")
        self._wire.settings.output_value = value

    def read_edge_events(self) -> list[gpiod.EdgeEvent]:
        self._check()
        os.read(self.fd, 1000)
        events, self._events = self._events, []
        return events

    def release(self) -> None:
        self.released, self._wire.request = True, None
        os.close(self.fd)
        os.close(self._write_fd)

    def _check(self) -> None:
        if self.gone:
            raise OSError(errno.ENODEV, "No such device")
        if self.released:
            raise gpiod.RequestReleasedError


@dataclass
class Info:
    label: str = ""
    consumer: str = ""


@dataclass
class Kernel:
    """Chips by their device file. `taken`: lines held by other consumers, with their names."""

    chips: dict[str, str]
    locked: frozenset[str] = frozenset()
    taken: dict[int, str] = field(default_factory=dict)
    wires: dict[int, Wire] = field(default_factory=dict)

    def files(self) -> Iterator[Path]:
        return map(Path, self.chips)

    def opened(self, path: str) -> Any:
        if path in self.locked:
            raise PermissionError(errno.EACCES, "Permission denied")
        return _Chip(self, self.chips[path])


@dataclass
class _Chip:
    kernel: Kernel
    label: str

    def get_info(self) -> Info:
        return Info(label=self.label)

    def get_line_info(self, number: int) -> Info:
        return Info(consumer=self.kernel.taken[number])

    def request_lines(
        self, config: dict[int, gpiod.LineSettings], consumer: str, event_buffer_size: int
    ) -> Request:
        ((number, settings),) = config.items()
        if number in self.kernel.taken:
            raise OSError(errno.EBUSY, "Device or resource busy")
        wire = self.kernel.wires.setdefault(number, Wire(number))
        wire.settings, wire.request = settings, Request(wire)
        return wire.request

    def close(self) -> None:
        self.label = ""
