"""Saves the computed state of persona, tools and the last turns on disk for the next start.

The state contains the conversation, so the file (0600) is in a folder beside the memory, under a
name that dialog/memory_erase.py erases together with it. One rule ensures that the state never
outlives a forgotten turn: **only a file that existed, empty, before the turns were read from the
memory is ever filled**. Forgetting unlinks the file, empty or not, under the folder's lock; the
writer checks under the same lock that the file still has a link. There is one such file: a new one
is complete before the old one is erased, and if writing fails, none is left.
A separate thread does all writing, because an SD card may stall for seconds.
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
from appliance.runtime.memory_files import APART, SNAPSHOT, snapshots
from appliance.runtime.secure_erase import erase
from appliance.think import state_file

ROOM_BYTES = 64 << 20  # free space to leave on the disk, for the memory itself
STEP_BYTES = 4 << 20  # written per fdatasync: a forget request waits at most for one step
LOCK_S = 5.0  # timeout for the folder's lock, which forgetting may hold
_MAGIC = b"interlude recalls 1\n"
_COUNT = struct.Struct("<I")  # of tokens; followed by their identities, 8 bytes each, and the state
_WHAT = "the conversation"

Ids = npt.NDArray[np.int64]  # the identity of every token (audio_embeddings.py)

log = logging.getLogger("thinker")


class Snapshots:
    """The snapshot beside the file `memory`, which need not exist. `made_of`: identity of model,
    build and form of the context. `room_bytes`: free space to leave on the disk. All methods belong
    to one thread, and only `load` waits for the disk."""

    def __init__(self, memory: Path, made_of: bytes = b"", room_bytes: int = ROOM_BYTES) -> None:
        self._memory = memory
        self._folder = snapshots(memory)
        self._room_bytes = room_bytes
        self._made_of = made_of
        self._fd: int | None = None  # of an empty file that may be filled
        self._path = memory
        self._making_file = False
        self._stop = threading.Event()  # set to abort a write that runs
        self._tasks: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._worker: threading.Thread | None = None

    def load(self) -> tuple[Ids, bytes] | None:
        """Load the snapshot: the identities of its tokens and the state. Erase all other files.

        The file is renamed until `mark_usable` is called: a state that crashes the process is not
        loaded again.
        """
        found, others = None, list[Path]()
        try:
            with locked(self._folder, LOCK_S):
                for path in sorted(self._files(), reverse=True):  # the newest first
                    content = None if found else self._content(path)
                    if content is None:
                        others.append(path)
                        continue
                    found, self._path = content, state_file.mark_tried(path)
        except OSError as error:
            log.warning("the saved state of the conversation cannot be used (%s)", error.strerror)
            found = None
        if others:
            self._submit(lambda: self._erase(others))
        return found

    def mark_usable(self) -> None:
        """Rename the loaded file back; call once its state works."""
        path = self._path

        def rename() -> None:
            # OSError: a forget request has erased the file meanwhile.
            with suppress(OSError), locked(self._folder, LOCK_S):
                state_file.unmark_tried(path)

        self._submit(rename)

    def ensure_file(self) -> bool:
        """Whether there is an empty file for turns that are read from the memory from now on; if
        not, start to make one."""
        if self._fd is not None and os.fstat(self._fd).st_nlink:
            return True
        self._close_file()
        if not self._making_file:
            self._making_file = True
            self._submit(self._make_file)
        return False

    def save(self, ids: Ids, state: bytes) -> None:
        """Write a snapshot to the empty file, unless a forget request has unlinked it."""
        fd, self._fd = self._fd, None
        if fd is None:
            return
        content = _COUNT.pack(len(ids)) + ids.astype("<i8").tobytes() + state
        data, path, stop = state_file.seal(_MAGIC, self._made_of, content), self._path, self._stop
        self._submit(lambda: self._write_snapshot(fd, path, data, stop))

    def drop(self) -> None:
        """Erase the snapshot, because something is forgotten or it is of no use."""
        self._stop.set()
        self._stop = threading.Event()
        self._close_file()
        self._submit(lambda: self._erase(self._files()))

    def wait(self, within_s: float) -> bool:
        """Wait for pending work, for at most `within_s`. Return whether it is done."""
        if self._worker is None:
            return True
        done = threading.Event()
        self._tasks.put(done.set)
        return done.wait(within_s)

    def _submit(self, task: Callable[[], None]) -> None:
        if self._worker is None:
            self._worker = threading.Thread(target=self._run, name="snapshots", daemon=True)
            self._worker.start()
        self._tasks.put(task)

    def _run(self) -> None:
        while True:
            task = self._tasks.get()
            try:
                task()
            except OSError as error:
                log.warning("the state for the next start cannot be saved (%s)", error.strerror)

    def _make_file(self) -> None:
        path = self._folder / f"{self._memory.name}{SNAPSHOT}{time.time_ns():020d}"
        try:
            if self._memory.parent.is_dir():  # else there is no memory either
                self._folder.mkdir(mode=0o700, exist_ok=True)
            with locked(self._folder, LOCK_S) as there:
                if there:
                    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
                    self._path, self._fd = path, fd
        finally:
            self._making_file = False

    def _write_snapshot(self, fd: int, path: Path, data: bytes, stop: threading.Event) -> None:
        started_s, complete = time.monotonic(), False
        try:
            with locked(path.parent, LOCK_S):
                if not os.fstat(fd).st_nlink:
                    return  # unlinked by a forget request
                try:
                    complete = self._fits(fd, data) and _write(fd, data, stop)
                    sync_folder(path.parent)
                finally:  # never keep the old file: RecallCache counts turns for the new one
                    self._erase([other for other in self._files() if not complete or other != path])
        finally:
            os.close(fd)
        if complete:
            log.info("saved the state for the next start: %.1f MiB in %.1f s",
                     len(data) / (1 << 20), time.monotonic() - started_s)  # fmt: skip

    def _fits(self, fd: int, data: bytes) -> bool:
        disk = os.fstatvfs(fd)
        free = disk.f_bavail * disk.f_frsize
        fits = len(data) <= state_file.MOST_BYTES and free >= len(data) + self._room_bytes
        if not fits:
            log.info("the state for the next start is not saved: %d MiB, and %d MiB are free",
                     len(data) >> 20, free >> 20)  # fmt: skip
        return fits

    def _erase(self, paths: list[Path]) -> None:
        for left in erase(paths):
            log.warning("%s cannot be erased (%s)", left.path, left.why)

    def _files(self) -> list[Path]:
        found = self._folder.glob(f"{self._memory.name}{SNAPSHOT}*")
        return [path for path in found if not path.name.endswith(APART)]  # already being erased

    def _content(self, path: Path) -> tuple[Ids, bytes] | None:
        if path.is_file() and not path.stat().st_size:
            return None  # never filled
        content = state_file.load(path, _MAGIC, self._made_of, _WHAT)
        if content is None:
            return None
        (count,) = _COUNT.unpack_from(content)
        state_start = _COUNT.size + 8 * count
        ids = np.frombuffer(content[_COUNT.size : state_start], "<i8").astype(np.int64)
        return ids, content[state_start:]

    def _close_file(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
        self._fd = None


def _write(fd: int, data: bytes, stop: threading.Event) -> bool:
    """Write `data` until `stop` is set. Return whether all of it is on the device."""
    at = 0
    while at < len(data) and not stop.is_set():
        at += os.write(fd, data[at : at + STEP_BYTES])
        os.fdatasync(fd)
    os.fsync(fd)
    return at == len(data)
