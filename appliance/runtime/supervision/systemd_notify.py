"""What systemd is told of the box: sd_notify(3). Without systemd it is told nothing."""

from __future__ import annotations

import sdnotify

EXTEND_S = 30  # as long as the watchdog, which systemd minds only once the start is over
FEED_S = 1.0  # between two notes to systemd's watchdog (WatchdogSec= is 30 s in the unit)


class SystemdNotifier:
    """One connection to the service manager. Nothing waits for it."""

    def __init__(self) -> None:
        self._notifier = sdnotify.SystemdNotifier()
        if self._notifier.socket is not None:
            self._notifier.socket.setblocking(False)  # a slow systemd must not stop us
        self._fed_s = -FEED_S
        self._was_ready = False
        self._said = ""

    @property
    def managed(self) -> bool:
        """A service manager started this process, and starts it again when it ends."""
        return self._notifier.socket is not None

    def notify(
        self, now_s: float, *, ready: bool, healthy: bool, lacks: str, reading: bool = False
    ) -> None:
        """Tell what is new. `ready`: the start is over; `lacks`: the parts that do not work;
        `reading`: the start goes on, since the model reads what stands before the first question.
        """
        if ready and not self._was_ready:
            self._was_ready = True
            self._notifier.notify("READY=1")
        said = f"without {lacks}" if lacks else "listening"
        if self._was_ready and said != self._said:
            self._said = said
            self._notifier.notify(f"STATUS={said}")
        if healthy and now_s - self._fed_s >= FEED_S:
            self._fed_s = now_s
            self._notifier.notify("WATCHDOG=1")
            if reading:  # beyond TimeoutStartSec= the start lasts until this is not renewed
                self._notifier.notify(f"EXTEND_TIMEOUT_USEC={1_000_000 * EXTEND_S}")

    def stopping(self) -> None:
        """The box stops, and is not to be started again: systemd counts down from here."""
        self._notifier.notify("STOPPING=1")
