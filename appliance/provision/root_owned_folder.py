"""Opens folders that only root can change, by descriptor and without following symlinks.

Root must not write by a path that another user can replace. So each folder from the base down is
opened with O_NOFOLLOW, must belong to root, and must not be writable by others. Writes then go
through the descriptor (/proc/self/fd/N) and not through the path.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from appliance.errors import StorageError
from appliance.update.release.disk_changes import Disk

_OPEN = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@contextmanager
def own_folder(
    base: Path, path: Path, disk: Disk, modes: Mapping[str, int] | None = None
) -> Iterator[Path]:
    """Yield a path through an open descriptor to the folder `path` below `base`.

    Missing folders are created, with the mode in `modes` or 0755. Raises StorageError for a symlink
    and for a folder that another user can change, OSError.
    """
    if not base.exists():
        disk.make_folder(base)
    with ExitStack() as opened:

        def enter(name: Path | str, shown: Path, parent_fd: int | None = None) -> int:
            try:
                fd = os.open(name, _OPEN, dir_fd=parent_fd)
            except OSError as error:
                if error.errno not in (errno.ENOTDIR, errno.ELOOP):
                    raise
                raise StorageError(f"{shown} is no folder, or a link to one.") from error
            opened.callback(os.close, fd)
            if not _is_protected(os.fstat(fd)):
                problem = f"{shown} can be changed by another user: nothing is written there."
                raise StorageError(problem)
            return fd

        fd = enter(base, base)
        for part in reversed([path, *path.parents][:-1]):
            child = _through(fd) / part.name
            made = not os.path.lexists(child)
            if made:
                disk.make_folder(child)
            fd = enter(part.name, base / part, fd)
            if made:
                os.fchmod(fd, (modes or {}).get(str(part), 0o755))
        yield _through(fd)


def _is_protected(info: os.stat_result) -> bool:
    """Whether no other user may change the folder."""
    group = info.st_mode & stat.S_IWGRP and info.st_gid != os.getegid()
    return info.st_uid == os.geteuid() and not info.st_mode & stat.S_IWOTH and not group


def _through(fd: int) -> Path:
    return Path(f"/proc/self/fd/{fd}")
