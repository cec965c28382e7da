"""Hot-plug: keeps a stream of capture or playback open while its card may be unplugged.

Sends CardLost or CardFound on each change and on StatusWanted, and Dropouts at most four times a
second.
"""

from __future__ import annotations

import gc
import select
import time
from collections.abc import Callable
from pathlib import Path

from appliance.audio.alsa import AlsaStream, open_stream
from appliance.audio.card_selection import CardMoved, CardSelection
from appliance.audio.cards import Direction
from appliance.errors import CardError
from appliance.messages.commands import StatusWanted
from appliance.messages.playback import CardFound, CardLost, Dropouts
from appliance.messages.registry import Message
from appliance.runtime.places import SOUND_CARDS
from appliance.runtime.worker import Worker

RETRY_MS = 500
BEAT_S = 0.25
STALLED_S = 1.0  # without a period from a running card; some drivers never restart their DMA


class StreamHousekeeping:
    """Periodic work of a stream's process: heartbeat, messages, count of dropouts.

    `handle`: called with each message except StatusWanted, which is answered here.
    """

    def __init__(
        self, work: Worker, direction: Direction, handle: Callable[[Message], None]
    ) -> None:
        self._work = work
        self._direction = direction
        self._handle = handle
        self._card: CardFound | CardLost | None = None  # last message sent
        self._next_s = 0.0
        self._reported_dropouts = 0
        self._moved_s = 0.0
        self.dropouts = 0
        self.selection = CardSelection(work.settings.card, direction)

    def moved(self) -> None:
        """Note that the card delivered or accepted samples."""
        self._moved_s = time.monotonic()

    def poll(self) -> bool:
        """Do the periodic work; True if it was due (every BEAT_S). Raises CardError if the card has
        stalled, CardMoved if another one is to be used."""
        now = time.monotonic()
        if now < self._next_s:
            return False
        self.beat(now)
        if now - self._moved_s > STALLED_S:
            raise CardError("The sound card has stalled.", "It is reopened.")
        self.selection.poll(now)
        return True

    def read_mail(self) -> None:
        for message in self._work.pop_messages():
            if not isinstance(message, StatusWanted):
                self._handle(message)
            elif self._card is not None:
                self._work.send(self._card)

    def tell(self, card: CardFound | CardLost) -> None:
        """Send the card's state to the conductor, and again on each later StatusWanted."""
        self._card = card
        self._work.send(card)

    def beat(self, now: float) -> None:
        self._next_s = now + BEAT_S
        self._work.beat()
        self.read_mail()
        if self.dropouts != self._reported_dropouts:
            self._reported_dropouts = self.dropouts
            self._work.send(Dropouts(self._direction, self._reported_dropouts))


def keep_open(
    work: Worker,
    direction: Direction,
    housekeeping: StreamHousekeeping,
    serve: Callable[[AlsaStream], None],
    folder: Path = SOUND_CARDS,
) -> None:
    """Open the card and `serve` it; when it is lost, retry twice a second. Returns at the stop, and
    when `folder` comes into being: this process may use the devices that it could at its start."""
    card = work.settings.card
    gc.freeze()  # the garbage collector no longer scans objects of the set-up while sound runs
    stop_poll = select.poll()
    stop_poll.register(work.stop_fd, select.POLLIN)
    problem, had_folder = "", folder.is_dir()
    work.report_ready()  # also without a card: the box then starts, and reports it
    while not work.stopping:
        try:
            with open_stream(
                housekeeping.selection.name(),
                direction,
                period_ms=card.period_ms,
                periods=card.periods,
                rate_hz=card.rate_hz,
                channels=card.channels,
            ) as stream:
                _report_found(work, housekeeping, stream, again=bool(problem))
                problem = ""
                housekeeping.moved()
                serve(stream)
        except CardMoved as moved:
            work.log.info("%s", moved)
        except CardError as error:
            if str(error) != problem:
                problem = str(error)
                work.log.error("%s", problem)
                housekeeping.tell(CardLost(direction, problem))
            if not had_folder and folder.is_dir():
                work.log.info("the machine has its first sound card: starting again")
                return
            housekeeping.beat(time.monotonic())
            stop_poll.poll(RETRY_MS)


def _report_found(
    work: Worker, housekeeping: StreamHousekeeping, stream: AlsaStream, *, again: bool
) -> None:
    queued_ms = 1000 * stream.buffer_frames / stream.rate_hz
    work.log.info(
        "%s on %s at %d Hz, %d channel%s, %g ms queued%s",
        stream.direction, stream.device, stream.rate_hz, stream.channels,
        "s" * (stream.channels > 1), queued_ms, ", found again" * again,
    )  # fmt: skip
    housekeeping.tell(CardFound(stream.direction, stream.device, stream.rate_hz))
