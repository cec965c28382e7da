"""The room's side of the software sound card (hw/simcard): its clock, its tracks, its faults.

In: sounds at absolute sample indexes, an impulse response, faults. Out: the loudspeaker's and the
microphone's samples by absolute index, and the card's log.
"""

from __future__ import annotations

import mmap
import os
import time
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import numpy.typing as npt

from appliance.errors import CardError
from appliance.pcm import Samples
from lab.sim.card_events import CardEvent, read_event
from lab.sim.card_memory_layout import (
    EVENTS,
    LAYOUT,
    MAGIC,
    MAX_BUFFER_FRAMES,
    MAX_TAPS,
    NEAR,
    RATES_HZ,
    REACH_FRAMES,
    RING_FRAMES,
)


class SamplesGone(CardError):
    """The requested samples were overwritten in the ring."""


class SamplesNotYet(CardError):
    """The card has not yet played or delivered the requested samples."""


class SaidTooLate(CardError):
    """A sound was added at an index that the microphone has passed."""


class SoundCard:
    """A software sound card. Only one process, the room, may use this class; others use ALSA.

    Samples are int16, mono. Indexes count frames since `origin_ns` on CLOCK_MONOTONIC, which is a
    multiple of 1 s: index + (origin in seconds) × rate is the index counted from the clock's zero.
    """

    def __init__(self, path: Path) -> None:
        """Attach to the card at `path`. Raises CardError if there is none."""
        self.path = path
        self._owned = False
        try:
            fd = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        except OSError as error:
            raise CardError(f"{path}: no sound card there ({error.strerror}).") from error
        try:
            if os.fstat(fd).st_size < LAYOUT.itemsize:
                raise CardError(f"{path} is too short to be a simcard.")
            self._memory = mmap.mmap(fd, LAYOUT.itemsize)
        finally:
            os.close(fd)
        self._card: npt.NDArray[Any] = np.ndarray((), LAYOUT, buffer=self._memory)
        if int(self._card["magic"]) != MAGIC:
            raise CardError(f"{path} is not a simcard, or one of another version.")
        self.rate_hz = int(self._card["rate_hz"])
        self.origin_ns = int(self._card["origin_ns"])
        self._step = int(self._card["granularity_frames"])
        self._sounds_end = 0

    @classmethod
    def create(
        cls,
        path: Path,
        rate_hz: int,
        echo: npt.ArrayLike | None = None,
        echo_delay: int = 0,
        *,
        output_fifo_frames: int = 0,
        input_fifo_frames: int = 0,
        granularity_frames: int = 1,
    ) -> SoundCard:
        """Make a new card at `path`, best on a tmpfs: its sparse file grows to 64 MiB.

        `echo` and `echo_delay` are as for `set_echo`. The FIFOs model those of a codec or of USB:
        the delay in frames from the `loudspeaker` track to the air, and from the air to the
        `microphone` track. The card's position moves in steps of `granularity_frames`. `close`
        removes the file.
        """
        if rate_hz not in RATES_HZ:
            raise CardError(f"A rate of {rate_hz} Hz is outside {RATES_HZ[0]} to {RATES_HZ[-1]}.")
        if granularity_frames < 1 or min(output_fifo_frames, input_fifo_frames) < 0:
            raise CardError("A FIFO must not be negative, nor the granularity less than 1 frame.")
        path.unlink(missing_ok=True)  # not truncated: another process may have it mapped
        with path.open("x+b") as file:
            file.truncate(LAYOUT.itemsize)
            memory = mmap.mmap(file.fileno(), LAYOUT.itemsize)
        with memory:
            shared: npt.NDArray[Any] = np.ndarray((), LAYOUT, buffer=memory)
            shared["origin_ns"] = time.monotonic_ns() // 1_000_000_000 * 1_000_000_000
            shared["rate_hz"] = rate_hz
            shared["granularity_frames"] = granularity_frames
            shared["output_fifo_frames"] = output_fifo_frames
            shared["input_fifo_frames"] = input_fifo_frames
            shared["magic"] = MAGIC
            del shared  # a mapping that is still exported cannot be closed
        card = cls(path)
        card._owned = True
        if echo is not None:
            card.set_echo(echo, echo_delay)
        return card

    def close(self) -> None:
        """Unmap the card; the creator also removes its file. May be called twice."""
        if self._memory.closed:
            return
        del self._card
        self._memory.close()
        if self._owned:
            self.path.unlink(missing_ok=True)

    def __enter__(self) -> SoundCard:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    # Time

    def now(self) -> int:
        """The card's current index: all samples before it have been played."""
        index = self.index_of(time.monotonic_ns())
        return index - index % self._step

    def index_of(self, monotonic_ns: int) -> int:
        """The index that plays at a time of CLOCK_MONOTONIC."""
        return (monotonic_ns - self.origin_ns) * self.rate_hz // 1_000_000_000

    def time_of(self, index: int) -> int:
        """The first nanosecond of CLOCK_MONOTONIC at which `index` plays."""
        return self.origin_ns - (-index * 1_000_000_000 // self.rate_hz)

    # Sound

    def add_sound(self, at_index: int, samples: Samples) -> None:
        """Mix a sound into the microphone's samples from `at_index` on.

        `at_index` must be far enough ahead for the copy to end in time; 10 ms is enough. Raises
        SaidTooLate if the microphone has passed it, even by one sample.
        """
        if samples.dtype != np.int16 or samples.ndim != 1:
            raise CardError(f"A sound is int16 and mono, not {samples.dtype} {samples.shape}.")
        self._refuse_late(at_index)
        if at_index + len(samples) > self.now() + REACH_FRAMES:
            seconds = REACH_FRAMES / self.rate_hz
            raise CardError(
                f"A sound that ends {seconds:.0f} s ahead or more.", "Give it in parts."
            )
        for part, lap, done in _parts(at_index, len(samples)):
            slots = self._card["near_end"][part]
            sums = np.empty(len(slots), NEAR)
            sums["sample"] = np.where(slots["lap"] == lap, slots["sample"], 0)
            sums["sample"] += samples[done : done + len(slots)]
            sums["lap"] = lap
            slots[:] = sums
        self._sounds_end = max(self._sounds_end, at_index + len(samples))
        self._refuse_late(at_index)

    def _refuse_late(self, at_index: int) -> None:
        late = self.now() - at_index
        if late > 0:
            raise SaidTooLate(f"A sound came {late / self.rate_hz * 1e3:.1f} ms too late.")

    def remove_sounds(self, from_index: int | None = None) -> None:
        """Remove all added sounds from `from_index` on, by default from now on."""
        first = self.now() if from_index is None else from_index
        for part, lap, _ in _parts(first, max(0, self._sounds_end - first)):
            slots = self._card["near_end"][part]
            slots["lap"][slots["lap"] == lap] = 0

    def set_echo(
        self,
        impulse_response: npt.ArrayLike | None,
        delay_frames: int = 0,
        *,
        gain: float = 1.0,
        drive: float = 0.0,
    ) -> None:
        """Change the echo path from loudspeaker to microphone; None or empty: no echo.

        `impulse_response`: at most MAX_TAPS taps, shape (taps,), the first `delay_frames` after the
        sample at the loudspeaker. `gain`: of the amplifier, linear. `drive`: above 0 it distorts
        the loudspeaker, tanh(drive × x) / drive with x = 1 at full scale. Takes effect with the
        next samples that the capture side reads.
        """
        h = np.asarray([] if impulse_response is None else impulse_response, np.float32)
        if h.ndim != 1 or len(h) > MAX_TAPS or not np.isfinite(h).all():
            raise CardError(
                f"An impulse response is at most {MAX_TAPS} finite taps, not {h.shape}."
            )
        if not 0 <= delay_frames < MAX_BUFFER_FRAMES or gain < 0 or drive < 0:
            raise CardError("The delay, gain or drive of an echo is out of range.")
        integers = np.array([len(h), delay_frames], np.int32)
        floats = np.array([gain, drive], np.float32)
        shared = self._card["path"]
        serial = (int(shared["serial"]) + 1) % 2**32
        words = np.concatenate([integers.view("u4"), floats.view("u4"), h.view("u4")])
        shared["h"][: len(h)] = h
        shared["taps"], shared["delay_frames"] = integers
        shared["gain"], shared["drive"] = floats
        shared["checksum"] = (serial + int(words.sum(dtype=np.uint64))) % 2**32
        shared["serial"] = serial

    def loudspeaker(self, first: int, frames: int) -> Samples:
        """The loudspeaker's samples, shape (frames,); 0 where no stream played.

        Raises SamplesNotYet after `now()`, and SamplesGone a ring back (87 s at 48 kHz).
        """
        return self._track("loudspeaker", first, frames, self.now())

    def microphone(self, first: int, frames: int) -> Samples:
        """The microphone's samples, shape (frames,); 0 where no stream captured.

        Raises SamplesNotYet after `microphone_end()`, and SamplesGone a ring back.
        """
        return self._track("microphone", first, frames, self.microphone_end())

    def microphone_end(self) -> int:
        """The index up to which the microphone's track is final.

        That is the end of the delivered samples; if no stream captures, the start of the largest
        buffer, which a stream could still read.
        """
        return max(int(self._card["capture_end"]), self.now() - MAX_BUFFER_FRAMES)

    def _track(self, name: str, first: int, frames: int, end: int) -> Samples:
        if frames < 0 or first + frames > end:
            limit = "now()" if name == "loudspeaker" else "microphone_end()"
            raise SamplesNotYet(
                f"The {name} has reached {end}, not {first + frames}.",
                f"Read only samples before {limit}.",
            )
        samples = np.zeros(frames, np.int16)
        if first >= 0:
            for part, lap, done in _parts(first, frames):
                slots = self._card[name][part].copy()
                valid = slots >> 16 == lap
                samples[done : done + len(slots)][valid] = slots[valid].astype(np.uint16).view("i2")
        if first < max(0, self.now() - REACH_FRAMES):
            raise SamplesGone(f"The {name}'s samples at {first} are overwritten.", "Read earlier.")
        return samples

    def events(self) -> tuple[CardEvent, ...]:
        """The latest 4096 events of the log, oldest first."""
        count = int(self._card["event_count"])
        events = []
        for number in range(max(0, count - EVENTS), count):
            event = self._card["events"][number % EVENTS].copy()
            if event["serial"] == number + 1:  # else it is being written now
                events.append(read_event(event, number + 1))
        return tuple(events)

    # Faults

    def unplug(self) -> int:
        """Unplug the card. Open streams fail for good, as with USB. Returns the index."""
        if self._card["plug_serial"] % 2 == 0:
            self._card["plug_serial"] += 1
        now = self.now()
        for part, _, _ in _parts(now, max(0, int(self._card["play_end"]) - now)):
            self._card["loudspeaker"][part] = 0
        return now

    def plug(self) -> None:
        """Plug the card in, so that it can be opened again."""
        if self._card["plug_serial"] % 2 == 1:
            self._card["plug_serial"] += 1

    def set_busy(self, busy: bool) -> None:
        """Set whether opening is refused, as if another program used the card."""
        self._card["busy"] = busy


def _parts(first: int, frames: int) -> Iterator[tuple[slice, int, int]]:
    """Split a range of indexes at the ring's end: slice of slots, their lap, frames before it."""
    done = 0
    while done < frames:
        lap, start = divmod(first + done, RING_FRAMES)
        length = min(frames - done, RING_FRAMES - start)
        yield slice(start, start + length), lap % 65535 + 1, done
        done += length
