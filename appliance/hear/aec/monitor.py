"""Monitors the canceller: saves its response to disk and reports clock skew and changes to the log.

In: the canceller, every block. Out: sentences for the log, once each; a file (store.py), written by
a thread, since an SD card may take a second.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from appliance.background_file import BackgroundFileWriter
from appliance.errors import StorageError
from appliance.hear.aec import store
from appliance.hear.aec.clock_skew import EVERY_S, ClockSkewEstimator
from appliance.hear.aec.factory import EchoCanceller
from appliance.hear.aec.kalman import KalmanCanceller
from appliance.hear.aec.path_estimate import Floats
from appliance.messages.trying import CancellerState

BLOCKS_A_SECOND = 200  # of 5 ms
SAVE_S = 300.0  # of echo, between two writes: the response changes slowly, SD cards wear out
FIRST_SAVE_S = 10.0
HARMFUL_PPM = 8.0  # skew from which the canceller loses several dB
STOP_S = 2.0  # timeout for the last write at an orderly stop


class EchoMonitor:
    """Call `on_frame` after each block of the canceller; `pop_log_lines` returns what to log."""

    def __init__(self, canceller: EchoCanceller, folder: Path, key: Callable[[], str]) -> None:
        self._kalman = canceller if isinstance(canceller, KalmanCanceller) else None
        self._folder, self._key = folder, key
        self._log_lines: list[str] = []
        self._skew = ClockSkewEstimator()
        self._active_blocks = 0
        self._save_at_s = FIRST_SAVE_S
        self._path_changes = 0
        self._skew_reported = self._was_resting = self._write_failed = False
        self._writer: BackgroundFileWriter[Floats] | None = None
        if self._kalman is not None:
            self._writer = BackgroundFileWriter("echo", self._save, self._on_saved)

    @property
    def state(self) -> CancellerState:
        """Whether there is a canceller, and whether it has an echo to cancel."""
        if self._kalman is None:
            return "none"
        return "resting" if self._kalman.resting else "works"

    def restore(self) -> None:
        """Load the saved response into the canceller, if it belongs to this sound card."""
        if self._kalman is None:
            return
        try:
            taps = store.load(self._folder, self._key(), len(self._kalman.taps))
        except StorageError as error:
            self._log_lines.append(str(error))
            return
        if taps is not None:
            self._kalman.restore(taps)

    def on_frame(self) -> None:
        """Count one block, 5 ms; check and save the response when due."""
        if self._kalman is None or self._writer is None or not self._kalman.active:
            return
        self._active_blocks += 1
        if self._active_blocks % BLOCKS_A_SECOND:
            return
        seconds = self._active_blocks // BLOCKS_A_SECOND
        if self._kalman.path_changes > self._path_changes:
            self._skew.reset()
        elif seconds % round(EVERY_S) == 0 and self._kalman.converged:
            self._skew.update(self._kalman.taps)
        if seconds >= self._save_at_s and self._is_worth_keeping():
            self._save_at_s = seconds + SAVE_S
            self._writer.write_later(self._kalman.taps)
        self._log_lines += self._changes()

    def pop_log_lines(self) -> list[str]:
        """The changes since the last call, a sentence each."""
        lines, self._log_lines = self._log_lines, []
        return lines

    def close(self) -> None:
        """Save the response at an orderly stop."""
        if self._kalman is None or self._writer is None:
            return
        if self._is_worth_keeping():
            self._writer.write_later(self._kalman.taps)
        self._writer.request_stop()
        self._writer.join(STOP_S)

    def _is_worth_keeping(self) -> bool:
        assert self._kalman is not None
        return self._kalman.converged and self._kalman.helps and not self._kalman.resting

    def _changes(self) -> Iterator[str]:
        assert self._kalman is not None
        skew_ppm = abs(self._skew.ppm or 0.0)
        if skew_ppm >= HARMFUL_PPM and not self._skew_reported:
            self._skew_reported = True  # reported once: it lasts until the sound card is replaced
            yield (
                f"microphone and loudspeaker run on two clocks, {skew_ppm:.0f} ppm apart: "
                "the echo cannot be cancelled well. Use one device for both (docs/echo.md)"
            )
        elif self._kalman.path_changes > self._path_changes and not self._skew_reported:
            yield "the box was moved or its volume changed: the echo path is learned again"
        if self._kalman.resting != self._was_resting:
            yield (
                "the card cancels the echo by itself, or no echo reaches the microphone"
                if self._kalman.resting
                else "there is an echo to cancel again"
            )
        self._path_changes, self._was_resting = self._kalman.path_changes, self._kalman.resting

    def _save(self, taps: Floats) -> None:
        """Write the file, in the writer's thread, which also reads the card's name."""
        store.save(self._folder, self._key(), taps)

    def _on_saved(self, _taps: Floats, problem: str) -> None:
        if problem and not self._write_failed:
            self._log_lines.append(problem)
        self._write_failed = bool(problem)
