"""Unpacking a release's tree: one member after the other, and none of them outside its folder.

tarfile's own filter (`data_filter`) came with Python 3.11.4; Debian 12 has 3.11.2. Here a member's
parent has to be a folder that was unpacked before, so never a link; and a link's target goes up
only at its beginning, by at most as many steps as the link lies deep. So each link leads from a
real folder to a real place in the tree, or to another link of which the same is true.
"""

from __future__ import annotations

import tarfile
from pathlib import Path, PurePosixPath

from appliance.errors import ReleaseRefused
from appliance.update.release.disk_changes import Disk

TOP = PurePosixPath()
_FILES = (tarfile.REGTYPE, tarfile.AREGTYPE)


class TreeUnpacker:
    """What of a tree has been unpacked. Only plain files, folders and inner links are; owners and
    modes are ours (0644, or 0755 for what may be run), so no setuid bit comes with them."""

    def __init__(self, manifest: str) -> None:
        """`manifest`: the name of the file that is not the tree's to bring."""
        self._folders, self._others = {TOP}, {PurePosixPath(manifest)}

    def unpack(
        self, tree: tarfile.TarFile, member: tarfile.TarInfo, folder: Path, disk: Disk
    ) -> None:
        """Unpack one. Raises ReleaseRefused, OSError."""
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
            raise ReleaseRefused(f"A link in it leads out of it: {member.name}.")
        else:
            raise ReleaseRefused(f"There is something in it that is no file: {member.name}.")
        self._others.add(path)

    def _place(self, member: tarfile.TarInfo) -> PurePosixPath:
        """Where it goes, below the tree's folder. Raises ReleaseRefused."""
        path = PurePosixPath(member.name)
        if path.is_absolute() or ".." in path.parts:
            raise ReleaseRefused(f"A name in it leads out of it: {member.name}.")
        known = path in self._others or (path in self._folders and not member.isdir())
        if known or path.parent not in self._folders:
            raise ReleaseRefused(f"A name in it has no folder, or is there twice: {member.name}.")
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
