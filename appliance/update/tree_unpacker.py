"""Unpacks a release's tree member by member, and nothing outside its folder.

tarfile's own filter (`data_filter`) came with Python 3.11.4; Debian 12 has 3.11.2. Here a member's
parent has to be a folder that was unpacked before, so it is never a link. The target of a link may
have `..` only at its beginning, and at most as many as the link's own depth. So each link points
from a real folder to a real place in the tree, or to another link that was checked in the same way.
"""

from __future__ import annotations

import tarfile
from pathlib import Path, PurePosixPath

from appliance.errors import ReleaseRefused
from appliance.update.release.disk_changes import Disk

TOP = PurePosixPath()
_FILES = (tarfile.REGTYPE, tarfile.AREGTYPE)


class TreeUnpacker:
    """Unpacks members and records which paths exist. Only plain files, folders and links inside the
    tree are accepted. Owner and mode are not the archive's: files get 0644, executables 0755, and
    no setuid bit."""

    def __init__(self, *reserved: str) -> None:
        """`reserved`: names that the tree must not contain, as that of the manifest."""
        self._folders, self._files = {TOP}, set(map(PurePosixPath, reserved))

    def unpack(
        self, tree: tarfile.TarFile, member: tarfile.TarInfo, folder: Path, disk: Disk
    ) -> None:
        """Unpack one member below `folder`. Raises ReleaseRefused, OSError."""
        path = self._place(member)
        if member.isdir():
            disk.make_folder(folder / path)
            self._folders.add(path)
            return
        if member.type in _FILES and member.sparse is None:
            source = tree.extractfile(member)
            mode = 0o755 if member.mode & 0o100 else 0o644
            disk.write(folder / path, source.read() if source else b"", mode)
        elif member.issym() and _stays_inside(path, member.linkname):
            disk.plain_link(folder / path, member.linkname)
        elif member.issym():
            raise ReleaseRefused(f"A link in it points outside of it: {member.name}.")
        else:
            raise ReleaseRefused(f"There is a member in it that is not a file: {member.name}.")
        self._files.add(path)

    def _place(self, member: tarfile.TarInfo) -> PurePosixPath:
        """The member's path below the tree's folder. Raises ReleaseRefused for an unsafe one."""
        path = PurePosixPath(member.name)
        if path.is_absolute() or ".." in path.parts:
            raise ReleaseRefused(f"A name in it points outside of it: {member.name}.")
        taken = path in self._files or (path in self._folders and not member.isdir())
        if taken or path.parent not in self._folders:
            raise ReleaseRefused(f"A name in it has no folder, or occurs twice: {member.name}.")
        return path


def _stays_inside(path: PurePosixPath, target: str) -> bool:
    parts = PurePosixPath(target).parts
    up = next((i for i, part in enumerate(parts) if part != ".."), len(parts))
    return (
        bool(parts)
        and not PurePosixPath(target).is_absolute()
        and ".." not in parts[up:]
        and up <= len(path.parent.parts)
    )
