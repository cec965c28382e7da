"""[process] Ring `voice` → loudspeaker, and ring `played`: the samples sent, with their index.

The card runs all the time; between answers and in a pause it gets zeros. A pause takes effect
only after the queued samples, so each period is computed late: not when the card has room for it,
but when at most `card.reserve_ms` are left to play. The machine part of the stop latency on the
software card (tests/audio/stop_latency.py, 100 pauses a run): p99 20 to 21 ms without this wait, 17
to 18.5 with it; 15 with a buffer of two periods in place of three, but with too many dropouts.
"""

from __future__ import annotations

import select
import time
from functools import partial

from appliance.audio.alsa import AlsaStream
from appliance.audio.card_clock import CardClock
from appliance.audio.hotplug import BEAT_S, StreamHousekeeping, keep_open
from appliance.audio.player import FadeProfile, PlaybackBlock, Player
from appliance.audio.sample_format import Interpolator, conversion_delay
from appliance.errors import CardError
from appliance.messages.commands import SetVolume
from appliance.messages.playback import RewindAnswer
from appliance.messages.registry import Message
from appliance.pcm import BLOCK_FRAMES, RATE_HZ
from appliance.runtime.ipc.floor import Floor
from appliance.runtime.ipc.ring import RingWriter
from appliance.runtime.worker import Worker
from appliance.settings import Settings


def main(work: Worker) -> None:
    card = work.settings.card
    player = Player(
        work.reader("voice", resume=True).read,
        fade_profile(work.settings),
        block_frames=min(BLOCK_FRAMES, RATE_HZ * card.period_ms // 1000),
        volume=work.settings.speaking.volume,
    )
    played = work.writer("played")
    housekeeping = StreamHousekeeping(work, "playback", handle=partial(_handle, player))
    keep_open(
        work,
        "playback",
        housekeeping,
        lambda stream: CardOutput(work, stream, player, played, housekeeping).serve(),
    )


def fade_profile(settings: Settings) -> FadeProfile:
    """Fades, rewind and duck gain from the settings."""
    speaking = settings.speaking
    return FadeProfile(
        down_frames=RATE_HZ * settings.card.ramp_ms // 1000,
        up_frames=RATE_HZ * speaking.resume_ramp_ms // 1000,
        rewind_after=round(RATE_HZ * speaking.rewind_after_s),
        duck=10 ** (speaking.duck_db / 20) if speaking.while_judging == "duck" else 0.0,
    )


def _handle(player: Player, message: Message) -> None:
    match message:
        case SetVolume(volume):
            player.set_volume(min(1.0, max(0.0, volume)))
        case RewindAnswer(turn, position):
            player.rewind(turn, position)


def next_block(player: Player, floor: Floor, index: int) -> PlaybackBlock:
    """The next block that the floor allows.

    The conductor stores `turn` before it releases a hold or a press. This function loads `turn`
    last: if it sees the old turn, it has also seen the hold, so that no sample of a dropped answer
    sounds between the two stores. A processor may reorder loads that are some dozens of
    instructions apart; hundreds lie between these."""
    hold, released, pressed = floor.hold, floor.released, floor.pressed
    return player.next_block(floor.turn, hold, released, index, pressed=pressed)


class CardOutput:
    """Feeds one open playback stream from the player."""

    def __init__(
        self,
        work: Worker,
        stream: AlsaStream,
        player: Player,
        played: RingWriter,
        housekeeping: StreamHousekeeping,
    ) -> None:
        self._work = work
        self._floor = work.floor
        self._stream = stream
        self._player = player
        self._played = played
        self._housekeeping = housekeeping
        self._clock = CardClock(stream.factor, conversion_delay(stream.factor))
        self._interpolate = Interpolator(stream.factor)
        self._reserve_s = work.settings.card.reserve_ms / 1000
        self._period_s = stream.period_frames / stream.rate_hz

    def serve(self) -> None:
        """Feed the card until the process is to stop. Raises CardError when the card is lost."""
        work, stream = self._work, self._stream
        poller = select.poll()
        poller.register(work.stop_fd, select.POLLIN)
        poller.register(work.channel.fileno(), select.POLLIN)
        stream.register(poller)
        self._start()
        while not work.stopping:
            events = poller.poll(BEAT_S * 1000)
            if stream.is_ready(events):
                self._wait_for_reserve()
                self._top_up()
            if any(fd == work.channel.fileno() for fd, _ in events):
                self._housekeeping.read_mail()
            self._housekeeping.poll()

    def _start(self) -> None:
        self._player.on_dropout()
        # Samples in the filter (1 ms at 48 kHz) are lost, like those in the card's buffer.
        self._interpolate = Interpolator(self._stream.factor)
        self._clock.start(self._stream.start(), self._floor.card_lead)

    def _wait_for_reserve(self) -> None:
        queued = self._stream.buffer_frames - self._stream.avail()
        spare_s = queued / self._stream.rate_hz - self._reserve_s
        if 0 < spare_s < self._period_s:  # else the buffer is deep on purpose, or empty
            time.sleep(spare_s)

    def _top_up(self) -> None:
        block_frames = self._player.block_frames * self._stream.factor
        while (room := self._stream.avail()) >= block_frames:
            self._write_block(self._next_block())
            self._housekeeping.moved()
        if room < 0:
            self._handle_dropout()

    def _handle_dropout(self) -> None:
        self._housekeeping.dropouts += 1
        self._start()
        self._housekeeping.moved()  # the card took a buffer of silence: this process was late

    def _next_block(self) -> PlaybackBlock:
        return next_block(self._player, self._floor, self._clock.index(self._stream.position))

    def _write_block(self, block: PlaybackBlock) -> None:
        """Write a block. If the card does not take all of it (lost, dropout), the player takes it
        back."""
        frames = self._interpolate(block.samples)
        written = 0
        try:
            written = self._stream.write(frames)
        finally:
            if written < len(frames):
                self._player.take_back()
        if written < 0:
            self._handle_dropout()
            return
        if written < len(frames):
            raise CardError("The sound card took only a part of a period.", "It is reopened.")
        self._played.write(
            block.samples, index=block.index, position=block.position, stream=block.turn
        )
        for event in block.events:
            self._work.send(event)
