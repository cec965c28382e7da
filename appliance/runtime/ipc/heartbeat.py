"""Heartbeats: a shared page with two words per process: time of the last beat, and phase."""

from __future__ import annotations

import mmap
import os

_LINE_WORDS = 8
_STARTING, _READY, _LOADING = range(3)  # values of the second word


def create(slots: int) -> int:
    """Create the page for `slots` processes; returns the descriptor of its memory."""
    fd = os.memfd_create("interlude-heartbeat", os.MFD_CLOEXEC)
    os.ftruncate(fd, slots * _LINE_WORDS * 8)
    return fd


class Heartbeat:
    """One slot: its process writes it, the supervisor reads it. Times are CLOCK_MONOTONIC ns."""

    def __init__(self, fd: int, slot: int) -> None:
        size = os.fstat(fd).st_size
        self._words = memoryview(mmap.mmap(fd, size)).cast("Q")
        self._at = slot * _LINE_WORDS

    def reset(self, now_ns: int) -> None:
        """Reset the slot before a start (by the supervisor): last beat now, phase "starting"."""
        self._words[self._at + 1] = _STARTING
        self._words[self._at] = now_ns

    def beat(self, now_ns: int) -> None:
        self._words[self._at] = now_ns

    def mark_ready(self) -> None:
        self._words[self._at + 1] = _READY

    def mark_loading(self) -> None:
        """Set the phase "loading": the process loads data, which may take minutes."""
        self._words[self._at + 1] = _LOADING

    @property
    def is_ready(self) -> bool:
        return self._words[self._at + 1] == _READY

    @property
    def is_loading(self) -> bool:
        return self._words[self._at + 1] == _LOADING

    def age_s(self, now_ns: int) -> float:
        """Seconds since the last beat."""
        return max(0.0, (now_ns - self._words[self._at]) / 1e9)
