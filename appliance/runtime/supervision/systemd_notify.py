"""Notifies systemd of readiness, status and watchdog: sd_notify(3). No-op without systemd."""

from __future__ import annotations

import sdnotify

EXTEND_S = 30  # as WatchdogSec=, which systemd applies only after the start
FEED_S = 1.0  # between two notifications of systemd's watchdog (WatchdogSec= is 30 s in the unit)


class SystemdNotifier:
    """The notification socket of the service manager; sending never blocks."""

    def __init__(self) -> None:
        self._notifier = sdnotify.SystemdNotifier()
        if self._notifier.socket is not None:
            self._notifier.socket.setblocking(False)  # a slow systemd must not stop us
        self._fed_s = -FEED_S
        self._was_ready = False
        self._status = ""

    @property
    def managed(self) -> bool:
        """Whether a service manager started this process, and restarts it when it ends."""
        return self._notifier.socket is not None

    def notify(
        self, now_s: float, *, ready: bool, healthy: bool, status: str, reading: bool = False
    ) -> None:
        """Send what has changed. `ready`: the start is over; `status`: a line for systemd's view
        of the unit, repeated with each feed of the watchdog, in case that systemd was too busy for
        it; `reading`: the start continues while the model evaluates the prompt before any question.
        """
        if status != self._status:
            self._status = status
            self._notifier.notify(f"STATUS={status}")
        if ready and not self._was_ready:
            self._was_ready = True
            self._notifier.notify("READY=1")
        if healthy and now_s - self._fed_s >= FEED_S:
            self._fed_s = now_s
            self._notifier.notify(f"WATCHDOG=1\nSTATUS={status}")
            if reading:  # extends TimeoutStartSec= by this; renewed each time
                self._notifier.notify(f"EXTEND_TIMEOUT_USEC={1_000_000 * EXTEND_S}")

    def stopping(self) -> None:
        """Notify that the box stops for good: systemd's stop timeout starts here."""
        self._notifier.notify("STOPPING=1")
