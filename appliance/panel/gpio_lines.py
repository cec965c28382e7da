"""GPIO lines of the kernel through libgpiod v2; the only module that imports gpiod. It returns
plain levels and times. A chip is found by its label, since its number depends on other chips."""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import gpiod
from gpiod.line import Bias, Clock, Direction, Edge, Value

from appliance.errors import PanelBusy, PanelError
from appliance.panel.pins import HEADERS

Pull = Literal["up", "down", "floating"]

EVENTS = 64  # events that the kernel buffers per line; when it is full, it drops the oldest

_BIAS = {"up": Bias.PULL_UP, "down": Bias.PULL_DOWN, "floating": Bias.DISABLED}


@dataclass
class GpioLine:
    """One line of a chip, requested as an input; `drive` makes it an output.

    `number` is its offset on the chip, which is the BCM number on a Pi's header. An input has a
    `pull`; with `edges` the kernel reports rising and falling edges, without debouncing.
    """

    number: int
    _request: gpiod.LineRequest
    pull: Pull = "floating"
    edges: bool = False
    output: bool = field(default=False, init=False)

    def fileno(self) -> int:
        """Readable while there are events."""
        return self._request.fd

    @property
    def level(self) -> bool:
        return bool(self._request.get_value(self.number) is Value.ACTIVE)

    def listen(self, *, pull: Pull | None = None, edges: bool | None = None) -> None:
        """Make the line an input; None leaves a setting as it was. Raises OSError."""
        self.pull = self.pull if pull is None else pull
        self.edges = self.edges if edges is None else edges
        settings = gpiod.LineSettings(
            direction=Direction.INPUT,
            bias=_BIAS[self.pull],
            edge_detection=Edge.BOTH if self.edges else Edge.NONE,
            event_clock=Clock.MONOTONIC,
        )
        self._request.reconfigure_lines({self.number: settings})
        self.output = False

    def drive(self, level: bool) -> None:
        """Make the line an output with that level. Raises OSError."""
        value = Value.ACTIVE if level else Value.INACTIVE
        if self.output:
            self._request.set_value(self.number, value)
        else:
            settings = gpiod.LineSettings(direction=Direction.OUTPUT, output_value=value)
            self._request.reconfigure_lines({self.number: settings})
            self.output = True

    def events(self) -> list[tuple[bool, float]]:
        """Read the edges; to be called once `fileno` is readable. For each: the new level, and the
        kernel's timestamp (CLOCK_MONOTONIC, s)."""
        rising = gpiod.EdgeEvent.Type.RISING_EDGE
        return [
            (event.event_type is rising, event.timestamp_ns / 1e9)
            for event in self._request.read_edge_events()
        ]

    def release(self) -> None:
        self._request.release()


class GpioChip:
    """The lines of one chip. Raises PanelError if no chip has that label.

    `label`: of the chip; "": of a Pi's header. Tests replace `files` and `opened`.
    """

    def __init__(
        self,
        label: str = "",
        files: Callable[[], Iterator[Path]] = lambda: Path("/dev").glob("gpiochip*"),
        opened: Callable[[str], gpiod.Chip] = gpiod.Chip,
        consumer: str = "interlude",
    ) -> None:
        self._consumer = consumer
        wanted = (label,) if label else HEADERS
        seen: list[str] = []
        failed: list[str] = []
        for path in sorted(files()):
            try:
                chip = opened(str(path))
            except OSError as error:
                failed.append(f"{path}: {error.strerror}")
                continue
            chip_label = chip.get_info().label
            if chip_label in wanted:
                self.label, self._chip = chip_label, chip
                return
            seen.append(chip_label)
            chip.close()
        if failed:
            raise PanelError(
                f"GPIO cannot be opened ({', '.join(failed)}).", "Is its user in group `gpio`?"
            )
        available = f"only {', '.join(sorted(set(seen)))}" if seen else "none at all"
        raise PanelError(
            f"There is no GPIO chip {' or '.join(wanted)} here, {available}.",
            "Set `panel.chip` to its label, or `panel.gpio: keyboard`.",
        )

    def line(self, number: int) -> GpioLine:
        """Request line `number` as an input, with its pull unchanged. Raises PanelBusy."""
        settings = gpiod.LineSettings(direction=Direction.INPUT, bias=Bias.AS_IS)
        try:
            request = self._chip.request_lines(
                {number: settings}, consumer=self._consumer, event_buffer_size=EVENTS
            )
        except OSError as error:
            if error.errno != errno.EBUSY:
                raise
            holder = self._chip.get_line_info(number).consumer or "the kernel"
            raise PanelBusy(
                f"GPIO line {number} is taken by {holder}.",
                "Compare hw/pinout.md with what else is on the header.",
            ) from error
        return GpioLine(number, request)

    def close(self) -> None:
        self._chip.close()
