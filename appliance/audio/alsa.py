"""Opens streams of sound cards; the only module that uses ALSA. In: an ALSA name. Out: an
`AlsaStream` of int16 frames.

Never blocks: every stream is opened non-blocking and polled. Every failure raises a CardError with
one sentence and a remedy, except a dropout, which the caller counts.
"""

from __future__ import annotations

import ctypes
import errno
import os
import select
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any

import alsaaudio
import numpy as np

from appliance.audio.card_clock import Pair
from appliance.audio.cards import CardInfo, Direction, holder, list_cards
from appliance.audio.sample_format import all_channels, one_channel
from appliance.errors import CardError
from appliance.pcm import RATE_HZ, Samples

__all__ = [
    "AlsaStream",
    "CardInfo",
    "DeviceCapabilities",
    "Direction",
    "list_cards",
    "open_stream",
]

NATIVE_RATES_HZ = (RATE_HZ, 48_000)  # tried in this order when `card.rate_hz` is 0
RATES_HZ = (RATE_HZ, 32_000, 48_000, 96_000)  # integer multiples of RATE_HZ
_CAPTURE_BUFFER_PERIODS = 64  # a deep capture buffer costs no latency and survives a stall
_READS = 12  # of the position when a stream starts: 3 ms, longer than a USB card's step of 1 ms
_READ_EVERY_S = 0.00025
_SAME_MOMENT_NS = 60_000  # one sample; a pair that took longer to read is read again

# ALSA itself prints each failed open to standard error; the retries would do that twice a second.
_ErrorHandler = ctypes.CFUNCTYPE(None)
_no_print = _ErrorHandler(lambda *_: None)
ctypes.CDLL("libasound.so.2").snd_lib_error_set_handler(_no_print)


@dataclass(frozen=True)
class DeviceCapabilities:
    """Rates and channel counts of a card in one direction."""

    device: str
    rates_hz: tuple[int, ...]
    channels: tuple[int, ...]


class AlsaStream:
    """One open direction of a card. `position` counts the frames read or written since `start`."""

    def __init__(self, pcm: alsaaudio.PCM, device: str, direction: Direction) -> None:
        info = pcm.info()
        self.device = device
        self.direction: Direction = direction
        self.rate_hz: int = info["rate"]
        self.channels: int = info["channels"]
        self.period_frames: int = info["period_size"]
        self.buffer_frames: int = info["buffer_size"]
        self.factor = self.rate_hz // RATE_HZ
        self.position = 0
        self._pcm = pcm
        self._fds: dict[int, int] = dict(pcm.polldescriptors())

    def __enter__(self) -> AlsaStream:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._pcm.close()

    def start(self) -> list[Pair]:
        """Start, or restart after a dropout. Playback starts with a full buffer of silence.

        Reads the position for 3 ms; returns the pairs for CardClock.start.
        """
        self.position = 0
        for _ in range(3):  # after a dropout the first call only fails and prepares
            if self.direction == "capture":
                if self._call(self._pcm.read)[0] >= 0:
                    break
            elif (written := self.write(np.zeros(self.buffer_frames, np.int16))) > 0:
                self.position = written
                break
        pairs = []
        for _ in range(_READS):
            pair = self.clock_pair()
            if pair is not None:
                pairs.append(pair)
            time.sleep(_READ_EVERY_S)
        if not pairs:
            raise self._lost_error("does not start")
        return pairs

    def register(self, poller: select.poll) -> None:
        for fd, events in self._fds.items():
            poller.register(fd, events)

    def is_ready(self, events: Sequence[tuple[int, int]]) -> bool:
        """Whether these results of poll(2) mean that this stream can be read or written.

        Raises CardError if the card was unplugged: a stream with less than a period left would
        otherwise be reported as ready for ever, and never read."""
        mine = [event for event in events if event[0] in self._fds]
        ready = self._call(self._pcm.polldescriptors_revents, mine) if mine else 0
        if ready & select.POLLERR and self._pcm.state() == alsaaudio.PCM_STATE_DISCONNECTED:
            raise self._lost_error(os.strerror(errno.ENODEV))
        return bool(ready)

    def avail(self) -> int:
        """Frames that can be read or written now; −1 after a dropout. Raises CardError: lost
        card."""
        frames = self._call(self._pcm.avail)
        if frames >= 0:
            return int(frames)
        if frames == -errno.EPIPE:
            return -1
        raise self._lost_error(os.strerror(-frames))

    def read(self) -> Samples | None:
        """At most one period, mono, at the card's rate; None after a dropout."""
        frames, data = self._call(self._pcm.read)
        if frames < 0:
            return None
        self.position += frames
        return one_channel(np.frombuffer(data, np.int16), self.channels)

    def write(self, mono: Samples) -> int:
        """Queue mono samples at the card's rate. Returns the frames taken, or −1 after a
        dropout."""
        written = self._call(self._pcm.write, all_channels(mono, self.channels).tobytes())
        if written < 0:
            return -1
        self.position += written
        return int(written)

    def clock_pair(self) -> Pair | None:
        """The time and the frame that is at the converter at that time; None after a dropout."""
        best_ns = 1 << 62
        found: Pair | None = None
        for _ in range(5):
            before_ns = time.monotonic_ns()
            avail = self.avail()
            took_ns = time.monotonic_ns() - before_ns
            if avail < 0:
                return None
            if took_ns < best_ns:
                ahead = avail if self.direction == "capture" else avail - self.buffer_frames
                best_ns, found = took_ns, (before_ns, self.position + ahead)
            if took_ns < _SAME_MOMENT_NS:
                break
        return found

    def _call(self, function: Callable[..., Any], *arguments: object) -> Any:
        try:
            return function(*arguments)
        except alsaaudio.ALSAAudioError as error:
            raise self._lost_error(_reason(error)) from error

    def _lost_error(self, reason: str) -> CardError:
        return CardError(
            f'The sound card "{self.device}" was lost ({reason}).',
            "Plug it in again; it is looked for twice a second.",
        )


def open_stream(
    device: str,
    direction: Direction,
    *,
    period_ms: int,
    periods: int,
    rate_hz: int = 0,
    channels: int = 0,
) -> AlsaStream:
    """Open one direction of a card without starting it. `rate_hz`, `channels`: 0 selects one.

    Raises CardError: no such card, busy, not permitted, or without a usable rate or format.
    """
    capabilities = _ask(device, direction)
    native = _native(device, direction)
    rate = _choose_rate(capabilities, rate_hz, native.rates_hz if native is not None else ())
    if not channels:
        channels = _choose_channels(native or capabilities)
    if channels not in capabilities.channels:
        raise CardError(
            f'The sound card "{device}" has no {channels}-channel {direction}, '
            f"only {_joined(capabilities.channels)} channels.",
            f'Set `card.{direction}` to "{_plug_name(device)}", which converts, '
            "or `card.channels`.",
        )
    depth = max(periods, _CAPTURE_BUFFER_PERIODS) if direction == "capture" else periods
    pcm = _open(device, direction, rate, channels, rate * period_ms // 1000, depth)
    granted = pcm.info()
    if (granted["rate"], granted["channels"]) != (rate, channels):
        pcm.close()
        raise CardError(
            f'The sound card "{device}" refused {rate} Hz with {channels} channels.',
            f'Try "{_plug_name(device)}" as `card.{direction}`.',
        )
    return AlsaStream(pcm, device, direction)


def _ask(device: str, direction: Direction) -> DeviceCapabilities:
    pcm = _open(device, direction, RATE_HZ, 1, RATE_HZ // 100, 4)
    try:
        if "S16_LE" not in pcm.getformats():
            raise CardError(
                f'The sound card "{device}" cannot do 16-bit samples.',
                f'Set `card.{direction}` to "{_plug_name(device)}", which converts them.',
            )
        return DeviceCapabilities(device, _rates_hz(pcm), tuple(pcm.getchannels()))
    finally:
        pcm.close()


def _rates_hz(pcm: alsaaudio.PCM) -> tuple[int, ...]:
    rates = pcm.getrates()
    if isinstance(rates, tuple):  # (lowest, highest): everything between
        rates = [rate for rate in (44_100, *RATES_HZ) if rates[0] <= rate <= rates[1]]
    elif isinstance(rates, int):
        rates = [rates]
    return tuple(sorted(rates))


def _native(device: str, direction: Direction) -> DeviceCapabilities | None:
    """The card's own capabilities where `device` is ALSA's plug converter; else None.

    The converter claims every rate and channel count. It interpolates linearly, and mixes two
    channels to their mean, while sample_format.py takes the left one and says why. The converter is
    therefore opened with a rate and channel count of the card; it only converts the format.
    """
    if not device.startswith("plughw:"):
        return None
    hardware = device.removeprefix("plug")
    pcm = _open(hardware, direction, RATE_HZ, 1, RATE_HZ // 100, 4)
    try:
        return DeviceCapabilities(hardware, _rates_hz(pcm), tuple(pcm.getchannels()))
    finally:
        pcm.close()


def _choose_channels(capabilities: DeviceCapabilities) -> int:
    """1, else 2, else the fewest that the card has; sample_format.py reduces them to one."""
    return next(
        (number for number in (1, 2) if number in capabilities.channels), min(capabilities.channels)
    )


def _choose_rate(
    capabilities: DeviceCapabilities, wanted_hz: int, native_hz: tuple[int, ...]
) -> int:
    if wanted_hz:
        if wanted_hz in capabilities.rates_hz:
            return wanted_hz
        raise CardError(
            f'The sound card "{capabilities.device}" cannot do {wanted_hz} Hz, only '
            f"{_joined(capabilities.rates_hz)} Hz.",
            "Set `card.rate_hz` to 0, which chooses by itself.",
        )
    rates_hz = native_hz or capabilities.rates_hz
    for rate in NATIVE_RATES_HZ:
        if rate in rates_hz:
            return rate
    raise CardError(
        f'The sound card "{capabilities.device}" can do neither 16 kHz nor 48 kHz, '
        f"only {_joined(rates_hz)} Hz.",
        "Use a card that can: nearly every USB card does 48 kHz.",
    )


def _open(
    device: str, direction: Direction, rate_hz: int, channels: int, period_frames: int, periods: int
) -> alsaaudio.PCM:
    kind = alsaaudio.PCM_CAPTURE if direction == "capture" else alsaaudio.PCM_PLAYBACK
    try:
        return alsaaudio.PCM(
            kind,
            alsaaudio.PCM_NONBLOCK,
            device=device,
            rate=rate_hz,
            channels=channels,
            format=alsaaudio.PCM_FORMAT_S16_LE,
            periodsize=period_frames,
            periods=periods,
        )
    except alsaaudio.ALSAAudioError as error:
        raise _open_error(device, direction, _reason(error)) from error


def _open_error(device: str, direction: Direction, reason: str) -> CardError:
    number = next((n for n in errno.errorcode if os.strerror(n) == reason), 0)
    if number in (errno.ENOENT, errno.ENODEV, errno.ENXIO):
        problem = f'There is no sound card "{device}".'
        remedy = _suggest(direction, list_cards())
    elif number == errno.EBUSY:
        program = holder(device, direction)
        problem = f'The sound card "{device}" is in use{f" by {program}" if program else ""}.'
        remedy = "Stop that program (a desktop's sound server, perhaps), or give us another card."
        if program.startswith("interlude"):  # the running box has it; `enrol` needs it
            remedy = "Stop the box meanwhile: `systemctl stop interlude`; then start it again."
    elif number in (errno.EACCES, errno.EPERM):
        problem = f'Opening the sound card "{device}" is not permitted.'
        remedy = (
            "Add this user to the group audio: sudo usermod -aG audio $USER, then log in again."
        )
    else:
        problem = f'The sound card "{device}" could not be opened for {direction} ({reason}).'
        remedy = "`interlude check` looks closer."
    error = CardError(problem, remedy)
    error.errno = number
    return error


def _suggest(direction: Direction, cards: list[CardInfo]) -> str:
    fitting = [card.device for card in cards if getattr(card, direction)]
    if not fitting:
        return f"Plug one in, or name it in `card.{direction}`; this machine shows none."
    return f"Set `card.{direction}` to {' or '.join(fitting)}."


def _reason(error: alsaaudio.ALSAAudioError) -> str:
    """ALSA's message without the device name: `No such device [hw:7]` → `No such device`."""
    return str(error).rpartition(" [")[0] or str(error)


def _plug_name(device: str) -> str:
    return device if device.startswith("plug") else f"plug{device}"


def _joined(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers)) or "unknown"
