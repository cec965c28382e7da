"""Every change on the disk that an installation makes, one call each: what may be cut short.

What a call leaves behind when the power goes is either what was there or what is wanted; what
several calls leave behind is installer.py's business. A test cuts it short after each of them.
"""

from __future__ import annotations

import ctypes
import os
import shutil
from pathlib import Path
from typing import BinaryIO

from appliance.atomic_file import sync_folder, write_whole


class Disk:
    """The real one. Raises OSError, for a full disk too."""

    def make_folder(self, path: Path) -> None:
        path.mkdir(mode=0o755, parents=True, exist_ok=True)
        path.chmod(0o755)
        self._done()

    def write(self, path: Path, data: bytes, mode: int = 0o644) -> None:
        """A new file, not yet safe from a power cut: see `sync`. Never through a link."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
        with os.fdopen(os.open(path, flags, 0o600), "wb") as file:
            os.fchmod(file.fileno(), mode)
            file.write(data)
        self._done()

    def write_whole(self, path: Path, data: bytes) -> None:
        """A file that everybody may read, in the place of what was there: whole, and for good."""
        write_whole(path, data)
        self._done()

    def nameless(self, path: Path) -> BinaryIO:
        """A new file that only its descriptor leads to: the name is gone again when this returns.

        So nobody else finds it, and its room is free when its process ends, however it ends.
        """
        path.unlink(missing_ok=True)
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        file = os.fdopen(os.open(path, flags, 0o600), "w+b")
        try:
            self._done()
            path.unlink()
            self._done()
        except OSError:
            file.close()
            raise
        return file

    def link(self, path: Path, target: str | Path) -> None:
        """Let the link `path` lead to `target` from one moment to the next, and for good."""
        fresh = path.with_name(f".{path.name}.new")
        fresh.unlink(missing_ok=True)
        fresh.symlink_to(target)
        self._done()
        self.rename(fresh, path)

    def plain_link(self, path: Path, target: str) -> None:
        """A link inside a tree that is not in use yet."""
        path.symlink_to(target)
        self._done()

    def rename(self, path: Path, to: Path) -> None:
        """At once, and for good: the folder that knows both names is written, too."""
        path.rename(to)
        self._done()
        sync_folder(to.parent)

    def remove(self, path: Path) -> None:
        """A file or link; it may be gone already."""
        path.unlink(missing_ok=True)
        self._done()
        sync_folder(path.parent)

    def remove_tree(self, path: Path) -> None:
        """A folder with all that is in it. Under another name first: never half a release."""
        gone = path.with_name(f".{path.name.lstrip('.')}.gone")
        if path != gone:
            shutil.rmtree(gone, ignore_errors=True)
            self.rename(path, gone)
        shutil.rmtree(gone)
        self._done()

    def sync(self, folder: Path) -> None:
        """Return when everything written to the file system of `folder` is safe (syncfs(2))."""
        fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            if ctypes.CDLL(None, use_errno=True).syncfs(fd) != 0:
                number = ctypes.get_errno()
                raise OSError(number, os.strerror(number), str(folder))
        finally:
            os.close(fd)
        self._done()

    def free_bytes(self, folder: Path) -> int:
        return shutil.disk_usage(folder).free

    def _done(self) -> None:
        """One more change is made; a test may end the process here."""
