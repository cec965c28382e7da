"""What the model has computed of its opening, kept on disk: a restart does not compute it again.

The opening is persona and tools; no word that anybody said is in it. A file is named by all that
made it (model, build, form of the context, tokens), holds that name and a digest of the rest, and
is there whole or not at all. What is not exactly so is ignored, said once, and written anew.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import threading
from pathlib import Path

from appliance.atomic_file import read_small, write_whole
from appliance.think import state_file

FOLDER = "openings"  # in the state's folder
MOST_FILES = 2  # the model in use, and the one before it
MOST_BYTES = 64 << 20  # of one file: 1,125 tokens of Gemma 4 E2B take 13 MiB
_MAGIC = b"interlude opening 1\n"
_END, _TRIED = ".state", ".tried"
_EDGE_BYTES = 1 << 20  # of a model's file: read to tell it from another one

log = logging.getLogger("thinker")


def model_identity(path: Path) -> bytes:
    """Tells a model's file from any other without reading gigabytes of it. Raises OSError."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        found = os.fstat(file.fileno())
        digest.update(f"{found.st_size} {found.st_mtime_ns} ".encode())
        digest.update(file.read(_EDGE_BYTES))
        file.seek(max(0, found.st_size - _EDGE_BYTES))
        digest.update(file.read(_EDGE_BYTES))
    return digest.digest()


class PromptStateCache:
    """The files of one folder, which is the box's own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._writing: threading.Thread | None = None

    def load(self, made_of: bytes) -> bytes | None:
        """The state that was kept of this; None if there is none that can be used.

        Until `mark_usable` is called it lies apart: one that ends the process is not tried again.
        """
        path, tried = self._path(made_of, _END), self._path(made_of, _TRIED)
        try:
            if tried.exists() or tried.is_symlink():
                log.warning("what was kept of the opening was no use last time; it is read anew")
                tried.unlink()
            data = read_small(path, state_file.HEAD_BYTES + MOST_BYTES)
        except FileNotFoundError:
            return None
        except OSError as error:
            log.warning("what was kept of the opening cannot be read (%s)", error.strerror)
            return None
        state = state_file.unseal(_MAGIC, made_of, data)
        if state is None:
            log.warning("what was kept of the opening is damaged; it is read anew")
            return None
        with contextlib.suppress(OSError):  # a card that cannot be written: then without that care
            path.rename(tried)
        return state

    def mark_usable(self, made_of: bytes) -> None:
        """The state that was taken is in use."""
        with contextlib.suppress(OSError):
            self._path(made_of, _TRIED).rename(self._path(made_of, _END))

    def save(self, made_of: bytes, state: bytes) -> None:
        """Write it, in a thread of its own: a card may stall for seconds."""
        if len(state) > MOST_BYTES:
            log.info("the opening is too long to be kept (%d MiB)", len(state) >> 20)
            return
        self._writing = threading.Thread(
            target=self._write, args=(made_of, state), name="openings", daemon=True
        )
        self._writing.start()

    def wait_written(self, within_s: float) -> bool:
        """Until all is written that was to be kept, but for no longer."""
        if self._writing is not None:
            self._writing.join(within_s)
        return self._writing is None or not self._writing.is_alive()

    def _write(self, made_of: bytes, state: bytes) -> None:
        data = state_file.seal(_MAGIC, made_of, state)
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._drop_all_but(MOST_FILES - 1)  # first: the room may be wanted
            write_whole(self._path(made_of, _END), data, 0o600)
        except OSError as error:
            log.warning("the opening cannot be kept (%s)", error.strerror)

    def _drop_all_but(self, count: int) -> None:
        """Keep the newest; what else lies there, half-written files too, goes."""
        files = sorted(self._folder.iterdir(), key=lambda path: -path.lstat().st_mtime_ns)
        kept = [path for path in files if path.suffix == _END][:count]
        for path in files:
            if path not in kept:
                path.unlink()

    def _path(self, made_of: bytes, end: str) -> Path:
        return self._folder / (state_file.name(made_of).hex()[:32] + end)
