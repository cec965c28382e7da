"""Every disk change that an installation makes, one call each.

After a power cut within a call, the disk has either the old state or the new one. The order of
several calls is the responsibility of installer.py. A test ends the process after each change.
"""

from __future__ import annotations

import ctypes
import os
import shutil
from pathlib import Path
from typing import BinaryIO

from appliance.atomic_file import sync_folder, write_whole
from appliance.runtime import free_space


class Disk:
    """Changes the real file system. Raises OSError, for a full disk too."""

    def make_folder(self, path: Path) -> None:
        path.mkdir(mode=0o755, parents=True, exist_ok=True)
        path.chmod(0o755)
        self._done()

    def write(self, path: Path, data: bytes, mode: int = 0o644) -> None:
        """Write a file without a flush to the disk: see `sync`. Does not follow a link."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
        with os.fdopen(os.open(path, flags, 0o600), "wb") as file:
            os.fchmod(file.fileno(), mode)
            file.write(data)
        self._done()

    def write_whole(self, path: Path, data: bytes) -> None:
        """Replace a file, readable by all users, by an atomic rename with fsync."""
        write_whole(path, data)
        self._done()

    def nameless(self, path: Path) -> BinaryIO:
        """Create a file and unlink it, so that only the returned descriptor refers to it.

        So no other process can open it, and the kernel frees its space when this process ends.
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
        """Point the symlink `path` to `target` by an atomic rename, and sync its folder."""
        temporary = path.with_name(f".{path.name}.new")
        temporary.unlink(missing_ok=True)
        temporary.symlink_to(target)
        self._done()
        self.rename(temporary, path)

    def plain_link(self, path: Path, target: str) -> None:
        """Create a symlink in a tree that is not in use yet."""
        path.symlink_to(target)
        self._done()

    def rename(self, path: Path, to: Path) -> None:
        """Rename atomically within a folder, and sync that folder."""
        path.rename(to)
        self._done()
        sync_folder(to.parent)

    def remove(self, path: Path) -> None:
        """Remove a file or symlink, if it exists, and sync its folder."""
        path.unlink(missing_ok=True)
        self._done()
        sync_folder(path.parent)

    def remove_tree(self, path: Path) -> None:
        """Remove a folder with its content, after a rename: no release is ever half removed."""
        renamed = path.with_name(f".{path.name.lstrip('.')}.gone")
        if path != renamed:
            shutil.rmtree(renamed, ignore_errors=True)
            self.rename(path, renamed)
        shutil.rmtree(renamed)
        self._done()

    def sync(self, folder: Path) -> None:
        """Flush all writes to the file system of `folder` (syncfs(2))."""
        fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            if ctypes.CDLL(None, use_errno=True).syncfs(fd) != 0:
                number = ctypes.get_errno()
                raise OSError(number, os.strerror(number), str(folder))
        finally:
            os.close(fd)
        self._done()

    def free_bytes(self, folder: Path) -> int:
        return free_space.free_bytes(folder)

    def _done(self) -> None:
        """Called after each change; a test overrides it to end the process here."""
