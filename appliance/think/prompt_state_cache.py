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

from appliance.atomic_file import write_whole
from appliance.think import state_file

FOLDER = "openings"  # in the state's folder
MOST_FILES = 2  # the model in use, and the one before it
_MAGIC = b"interlude opening 1\n"
_WHAT = "the opening"
_END = ".state"
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
        path = self._path(made_of)
        with contextlib.suppress(OSError):  # a card that cannot be written: then without that care
            tried = state_file.apart(path)
            if os.path.lexists(tried):
                state_file.load(tried, _MAGIC, made_of, _WHAT)
                tried.unlink()
        state = state_file.load(path, _MAGIC, made_of, _WHAT)
        if state is not None:
            with contextlib.suppress(OSError):
                state_file.set_apart(path)
        return state

    def mark_usable(self, made_of: bytes) -> None:
        """The state that was taken is in use."""
        with contextlib.suppress(OSError):
            state_file.put_back(state_file.apart(self._path(made_of)))

    def save(self, made_of: bytes, state: bytes) -> None:
        """Write it, in a thread of its own: a card may stall for seconds."""
        if len(state) > state_file.MOST_BYTES:
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
            write_whole(self._path(made_of), data, 0o600)
        except OSError as error:
            log.warning("the opening cannot be kept (%s)", error.strerror)

    def _drop_all_but(self, count: int) -> None:
        """Keep the newest; what else lies there, half-written files too, goes."""
        files = sorted(self._folder.iterdir(), key=lambda path: -path.lstat().st_mtime_ns)
        kept = [path for path in files if path.suffix == _END][:count]
        for path in files:
            if path not in kept:
                path.unlink()

    def _path(self, made_of: bytes) -> Path:
        return self._folder / (state_file.name(made_of).hex()[:32] + _END)
