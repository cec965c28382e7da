"""Heartbeats: a shared page with two words a process, when it last beat and how far it is."""

from __future__ import annotations

import mmap
import os

_LINE_WORDS = 8
_STARTS, _READY, _READS = range(3)  # the second word


def create(slots: int) -> int:
    """Make the page for so many processes; returns the descriptor of its memory."""
    fd = os.memfd_create("interlude-heartbeat", os.MFD_CLOEXEC)
    os.ftruncate(fd, slots * _LINE_WORDS * 8)
    return fd


class Heartbeat:
    """One process's slot: the process beats, the supervisor looks. Times are CLOCK_MONOTONIC ns."""

    def __init__(self, fd: int, slot: int) -> None:
        size = os.fstat(fd).st_size
        self._words = memoryview(mmap.mmap(fd, size)).cast("Q")
        self._at = slot * _LINE_WORDS

    def reset(self, now_ns: int) -> None:
        """The supervisor's, before it spawns: alive since now, not ready."""
        self._words[self._at + 1] = _STARTS
        self._words[self._at] = now_ns

    def beat(self, now_ns: int) -> None:
        self._words[self._at] = now_ns

    def mark_ready(self) -> None:
        self._words[self._at + 1] = _READY

    def mark_loading(self) -> None:
        """It has started, and reads what its work begins with, which may take minutes."""
        self._words[self._at + 1] = _READS

    @property
    def is_ready(self) -> bool:
        return self._words[self._at + 1] == _READY

    @property
    def is_loading(self) -> bool:
        return self._words[self._at + 1] == _READS

    def age_s(self, now_ns: int) -> float:
        """Seconds since the last beat."""
        return max(0.0, (now_ns - self._words[self._at]) / 1e9)
