"""Caches the computed state of the opening on disk, so that a restart need not compute it again.

The opening is persona and tools; it contains nothing from the conversation. A file is named by a
digest of what the state depends on (model, build, form of the context, tokens), holds this digest
and a checksum of its content, and is written atomically. An invalid file is logged, ignored and
replaced.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import threading
from pathlib import Path

from appliance.atomic_file import write_whole
from appliance.think import state_file

FOLDER = "openings"  # in the state folder
MOST_FILES = 2  # for the current model and the previous one
_MAGIC = b"interlude opening 1\n"
_WHAT = "the opening"
_END = ".state"
_EDGE_BYTES = 1 << 20  # read at each end of a model's file to identify it

log = logging.getLogger("thinker")


def model_identity(path: Path) -> bytes:
    """Return a digest that identifies a model's file by its size, time and both ends, without
    reading gigabytes of it. Raises OSError."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        found = os.fstat(file.fileno())
        digest.update(f"{found.st_size} {found.st_mtime_ns} ".encode())
        digest.update(file.read(_EDGE_BYTES))
        file.seek(max(0, found.st_size - _EDGE_BYTES))
        digest.update(file.read(_EDGE_BYTES))
    return digest.digest()


class PromptStateCache:
    """The state files of one folder, which holds nothing else."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._writing: threading.Thread | None = None

    def load(self, made_of: bytes) -> bytes | None:
        """Return the saved state for `made_of`; None if there is none that can be used.

        The file is renamed until `mark_usable` is called: a state that crashes the process is not
        loaded again.
        """
        path = self._path(made_of)
        with contextlib.suppress(OSError):  # on a read-only card, load without the rename
            tried = state_file.tried_path(path)
            if os.path.lexists(tried):
                state_file.load(tried, _MAGIC, made_of, _WHAT)
                tried.unlink()
        state = state_file.load(path, _MAGIC, made_of, _WHAT)
        if state is not None:
            with contextlib.suppress(OSError):
                state_file.mark_tried(path)
        return state

    def mark_usable(self, made_of: bytes) -> None:
        """Rename the loaded file back; call once its state works."""
        with contextlib.suppress(OSError):
            state_file.unmark_tried(state_file.tried_path(self._path(made_of)))

    def save(self, made_of: bytes, state: bytes) -> None:
        """Write a state in a separate thread, because an SD card may stall for seconds."""
        if len(state) > state_file.MOST_BYTES:
            log.info("the state of the opening is too large to save (%d MiB)", len(state) >> 20)
            return
        self._writing = threading.Thread(
            target=self._write, args=(made_of, state), name="openings", daemon=True
        )
        self._writing.start()

    def wait_written(self, within_s: float) -> bool:
        """Wait for a pending write, for at most `within_s`. Return whether it is done."""
        if self._writing is not None:
            self._writing.join(within_s)
        return self._writing is None or not self._writing.is_alive()

    def _write(self, made_of: bytes, state: bytes) -> None:
        data = state_file.seal(_MAGIC, made_of, state)
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._drop_all_but(MOST_FILES - 1)  # first, to free disk space for the new file
            write_whole(self._path(made_of), data, 0o600)
        except OSError as error:
            log.warning("the state of the opening cannot be saved (%s)", error.strerror)

    def _drop_all_but(self, count: int) -> None:
        """Delete all but the newest `count` states, including incomplete files."""
        files = sorted(self._folder.iterdir(), key=lambda path: -path.lstat().st_mtime_ns)
        newest = [path for path in files if path.suffix == _END][:count]
        for path in files:
            if path not in newest:
                path.unlink()

    def _path(self, made_of: bytes) -> Path:
        return self._folder / (state_file.name(made_of).hex()[:32] + _END)
