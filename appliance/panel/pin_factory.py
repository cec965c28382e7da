"""A pin factory for gpiozero on the kernel's GPIO lines (gpio_lines.py).

It implements what the panel uses: inputs with a pull that report both edges, and PWMLED. One thread
reports edges, with the kernel's timestamps; software_pwm.py dims the light.
"""

from __future__ import annotations

import os
import select
import threading
from collections.abc import Callable
from typing import Any

from gpiozero.pins.local import LocalPiFactory, LocalPiPin

from appliance.panel.gpio_lines import GpioChip, GpioLine, Pull
from appliance.panel.software_pwm import SoftwarePwm

DIM_HZ = 100.0  # gpiozero's default; no visible flicker, and a Python thread keeps up with it
# gpiozero needs a board's revision for the header's numbers, the same on every Pi with 40 pins.
# This one is a Pi 5 with 8 GB. It is fixed, since not every kernel reports the revision.
ANY_PI = 0xD04170


class KernelPinFactory(LocalPiFactory):  # type: ignore[misc] # gpiozero has no types
    """The `pin_factory` of gpiozero's devices. `close` releases its lines.

    Raises PanelError for a line that is taken.
    """

    def __init__(self, chip: GpioChip) -> None:
        super().__init__()
        self.pins: dict[Any, KernelPin] = {}  # of this factory only; gpiozero shares them
        self.pin_class = KernelPin
        self.chip = chip
        self.pwm = SoftwarePwm(self._write, DIM_HZ)
        self._lines: dict[int, GpioLine] = {}
        self._watched: dict[int, KernelPin] = {}  # by the descriptor of their events
        self._poll = select.poll()
        self._wake_fd = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        self._poll.register(self._wake_fd, select.POLLIN)
        self._closing = False
        self._thread: threading.Thread | None = None
        self.lost: OSError | None = None  # the lines are gone: a USB chip was unplugged
        self.when_lost: Callable[[], None] = lambda: None

    def line(self, number: int) -> GpioLine:
        if number not in self._lines:
            self._lines[number] = self.chip.line(number)
        return self._lines[number]

    def watch(self, pin: KernelPin) -> None:
        """Call the pin's handler at each edge from now on, in the factory's thread."""
        fd = pin.line.fileno()
        self._watched[fd] = pin
        self._poll.register(fd, select.POLLIN)
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="edges", daemon=True)
            self._thread.start()
        os.eventfd_write(self._wake_fd, 1)  # a poll in progress does not include the new descriptor

    def unwatch(self, pin: KernelPin) -> None:
        fd = pin.line.fileno()
        if self._watched.pop(fd, None) is not None:
            self._poll.unregister(fd)

    def close(self) -> None:
        if self._closing:
            return
        self._closing = True
        os.eventfd_write(self._wake_fd, 1)
        if self._thread is not None:
            self._thread.join()
        super().close()
        self.pwm.close()
        for line in self._lines.values():
            line.release()
        self._lines.clear()
        self.chip.close()
        os.close(self._wake_fd)

    def _run(self) -> None:
        while not self._closing:
            for fd, _ in self._poll.poll():
                if fd == self._wake_fd:
                    os.eventfd_read(fd)
                elif fd in self._watched:
                    try:
                        self._watched[fd].take_events()
                    except OSError as error:
                        self.lost = error
                        self.when_lost()
                        return

    def _write(self, number: int, level: bool) -> None:
        self._lines[number].drive(level)

    def _get_revision(self) -> int:
        return ANY_PI


class KernelPin(LocalPiPin):  # type: ignore[misc] # no types
    """One line, as gpiozero's devices see it: an input, or an output that may be dimmed."""

    def __init__(self, factory: KernelPinFactory, info: Any) -> None:
        super().__init__(factory, info)
        self.line = factory.line(self._number)
        self._duty_cycle: float | None = None  # PWM duty cycle, 0 to 1; None: no PWM

    def close(self) -> None:
        """Make the line an input without edge events; the factory releases it."""
        self.when_changed = None
        self.frequency = None
        self.line.listen(pull="floating", edges=False)

    def take_events(self) -> None:
        for level, at_s in self.line.events():
            self._call_when_changed(at_s, level)

    def _get_function(self) -> str:
        return "output" if self.line.output else "input"

    def _set_function(self, value: str) -> None:
        if value == "output":
            self.line.drive(self.line.level)
        else:
            self.frequency = None
            self.line.listen()

    def _get_state(self) -> float:
        return self._duty_cycle if self._duty_cycle is not None else float(self.line.level)

    def _set_state(self, value: float) -> None:
        if self._duty_cycle is None:
            self.line.drive(bool(value))
        else:
            self._duty_cycle = float(value)
            self.factory.pwm.set(self._number, self._duty_cycle)

    def _get_pull(self) -> Pull:
        return self.line.pull

    def _set_pull(self, value: Pull) -> None:
        self.line.listen(pull=value)

    def _get_frequency(self) -> float | None:
        return None if self._duty_cycle is None else DIM_HZ

    def _set_frequency(self, value: float | None) -> None:
        """Any frequency means DIM_HZ, since the lines share one period; None ends PWM."""
        if value and self._duty_cycle is None:
            self._duty_cycle = float(self.line.level)
        elif not value and self._duty_cycle is not None:
            self._duty_cycle = None
            self.factory.pwm.set(self._number, 0.0)

    def _enable_event_detect(self) -> None:
        self.line.listen(edges=True)
        self.factory.watch(self)

    def _disable_event_detect(self) -> None:
        self.factory.unwatch(self)
        if not self.line.output:
            self.line.listen(edges=False)
