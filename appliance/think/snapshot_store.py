"""What the model has computed of persona, tools and the last turns, on disk for the next start.

These are words that people said, so the file (0600) lies beside the memory, under a name that all
who forget erase with it (dialog/memory_erase.py), and one rule keeps it from outliving them:
**only a file that was there, empty, before the turns were taken from the memory is ever filled**.
Who forgets erases it, empty or not, under the folder's lock; who fills it looks, under the same
lock, whether it still has a name. There is one such file; a new one is written whole before the
old is erased, and where it cannot be written none is left.
All that writes is done in a thread of its own: a card may stall for seconds.
"""

from __future__ import annotations

import logging
import os
import queue
import struct
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
import numpy.typing as npt

from appliance.atomic_file import sync_folder
from appliance.runtime.folder_lock import locked
from appliance.runtime.memory_files import APART, SNAPSHOT
from appliance.runtime.secure_erase import erase
from appliance.think import state_file

ROOM_BYTES = 64 << 20  # that the disk has left afterwards, for the memory itself
STEP_BYTES = 4 << 20  # synced at once: so long, at most, somebody who forgets waits for a writer
LOCK_S = 5.0  # for who forgets
_MAGIC = b"interlude recalls 1\n"
_COUNT = struct.Struct("<I")  # of tokens; then their identities, 8 bytes each; then the state
_WHAT = "the conversation"

Ids = npt.NDArray[np.int64]  # the identity of every token (audio_embeddings.py)

log = logging.getLogger("thinker")


class Snapshots:
    """Of the memory in `memory`, a file that need not be there. `made_of`: model, build and form
    of the context. `room_bytes`: that the disk is left with. All methods belong to one thread, and
    none but `take` waits for the disk."""

    def __init__(self, memory: Path, made_of: bytes = b"", room_bytes: int = ROOM_BYTES) -> None:
        self._memory = memory
        self._room_bytes = room_bytes
        self._made_of = made_of
        self._fd: int | None = None  # of a file that may be filled
        self._path = memory
        self._making = False
        self._stop = threading.Event()  # what is being written is not wanted any more
        self._orders: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._worker: threading.Thread | None = None

    def take(self) -> tuple[Ids, bytes] | None:
        """What was kept, the identities of its tokens and the state; all other files are erased.

        Until `works` is called it has another name: one that ends the process is not tried again.
        """
        found, others = None, list[Path]()
        try:
            with locked(self._memory.parent, LOCK_S):
                for path in sorted(self._files(), reverse=True):  # the newest first
                    content = None if found else self._content(path)
                    if content is None:
                        others.append(path)
                        continue
                    found, self._path = content, state_file.set_apart(path)
        except OSError as error:
            log.warning("what was kept of the conversation cannot be used (%s)", error.strerror)
            found = None
        if others:
            self._do(lambda: self._erase(others))
        return found

    def works(self) -> None:
        """What was taken is in use."""
        path = self._path

        def rename() -> None:
            with suppress(OSError), locked(self._memory.parent, LOCK_S):  # forgotten meanwhile
                state_file.put_back(path)

        self._do(rename)

    def begin(self) -> bool:
        """Whether there is a file that may be filled with what is taken from the memory from now
        on; if not, one is made."""
        if self._fd is not None and os.fstat(self._fd).st_nlink:
            return True
        self._let_go()
        if not self._making:
            self._making = True
            self._do(self._make)
        return False

    def keep(self, ids: Ids, state: bytes) -> None:
        """Fill that file, unless something was forgotten since it was made."""
        fd, self._fd = self._fd, None
        if fd is None:
            return
        content = _COUNT.pack(len(ids)) + ids.astype("<i8").tobytes() + state
        data, path, stop = state_file.seal(_MAGIC, self._made_of, content), self._path, self._stop
        self._do(lambda: self._fill(fd, path, data, stop))

    def drop(self) -> None:
        """Something is forgotten, or what is kept is of no use: nothing is left of it."""
        self._stop.set()
        self._stop = threading.Event()
        self._let_go()
        self._do(lambda: self._erase(self._files()))

    def wait(self, within_s: float) -> bool:
        """Until all is done that was begun, but for no longer."""
        if self._worker is None:
            return True
        done = threading.Event()
        self._orders.put(done.set)
        return done.wait(within_s)

    def _do(self, act: Callable[[], None]) -> None:
        if self._worker is None:
            self._worker = threading.Thread(target=self._work, name="snapshots", daemon=True)
            self._worker.start()
        self._orders.put(act)

    def _work(self) -> None:
        while True:
            act = self._orders.get()
            try:
                act()
            except OSError as error:
                log.warning("the conversation cannot be kept for a start (%s)", error.strerror)

    def _make(self) -> None:
        path = self._memory.with_name(f"{self._memory.name}{SNAPSHOT}{time.time_ns():020d}")
        try:
            with locked(self._memory.parent, LOCK_S) as there:
                if there:  # else there is no memory either
                    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
                    self._path, self._fd = path, fd
        finally:
            self._making = False

    def _fill(self, fd: int, path: Path, data: bytes, stop: threading.Event) -> None:
        began_s, whole = time.monotonic(), False
        try:
            with locked(path.parent, LOCK_S):
                if not os.fstat(fd).st_nlink:
                    return  # forgotten meanwhile
                try:
                    whole = self._room(fd, data) and _write(fd, data, stop)
                    sync_folder(path.parent)
                finally:  # the new one or none: how old the old one may get was reckoned by the new
                    self._erase([each for each in self._files() if not whole or each != path])
        finally:
            os.close(fd)
        if whole:
            log.info("what a start recalls is kept: %.1f MiB in %.1f s",
                     len(data) / (1 << 20), time.monotonic() - began_s)  # fmt: skip

    def _room(self, fd: int, data: bytes) -> bool:
        disk = os.fstatvfs(fd)
        free = disk.f_bavail * disk.f_frsize
        fits = len(data) <= state_file.MOST_BYTES and free >= len(data) + self._room_bytes
        if not fits:
            log.info("what a start recalls is not kept: %d MiB, and %d MiB are free",
                     len(data) >> 20, free >> 20)  # fmt: skip
        return fits

    def _erase(self, paths: list[Path]) -> None:
        for left in erase(paths):
            log.warning("%s cannot be erased (%s)", left.path, left.why)

    def _files(self) -> list[Path]:
        found = self._memory.parent.glob(f"{self._memory.name}{SNAPSHOT}*")
        return [path for path in found if not path.name.endswith(APART)]  # forgetting's own

    def _content(self, path: Path) -> tuple[Ids, bytes] | None:
        if path.is_file() and not path.stat().st_size:
            return None  # it was never filled
        content = state_file.load(path, _MAGIC, self._made_of, _WHAT)
        if content is None:
            return None
        (count,) = _COUNT.unpack_from(content)
        behind = _COUNT.size + 8 * count
        ids = np.frombuffer(content[_COUNT.size : behind], "<i8").astype(np.int64)
        return ids, content[behind:]

    def _let_go(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
        self._fd = None


def _write(fd: int, data: bytes, stop: threading.Event) -> bool:
    """Returns whether all of it is on the device; not if it is not wanted any more."""
    at = 0
    while at < len(data) and not stop.is_set():
        at += os.write(fd, data[at : at + STEP_BYTES])
        os.fdatasync(fd)
    os.fsync(fd)
    return at == len(data)
