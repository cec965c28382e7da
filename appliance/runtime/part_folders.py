"""The folders that belong to one part, and the move of files that earlier versions kept elsewhere.

A folder is named after its part and lies in the state folder, and in the unit's folder in memory.
With it, the kernel can keep each part from the files of the others (landlock.py).
"""

from __future__ import annotations

import logging
from pathlib import Path

# Folder → what earlier versions kept outside of it. The mark of the mute stays (dialog/mute_store).
MOVED: dict[str, tuple[str, ...]] = {
    "conductor": ("mute.json", "adjusted.json", "told-of-releases", "to-be-forgotten"),
    "panel": ("reset-under-way",),
    "page": ("page-access.json", "restore-back"),
    "link": ("left-at-the-broker.json", "removed-from-home-assistant"),
    "listener": ("echo.npz",),
    "enrolled": ("verdict-owner.npz",),
    "memory/states": ("memory/memory.db.state-*",),
    "memory/uploads": ("memory/memory.db.restore-[uwc]*",),  # upload, wanted, checked
}

log = logging.getLogger("state")


def move_earlier_files(folder: Path) -> None:
    """Move the files of an earlier version below `folder`, before any part runs. Never raises: a
    file that cannot be moved counts as missing, and a mute as on."""
    panel = folder / "panel"
    if panel.is_socket():  # of an earlier keyboard panel
        panel.unlink()
    for name, patterns in MOVED.items():
        for file in [found for pattern in patterns for found in folder.glob(pattern)]:
            target = folder / name
            try:
                target.mkdir(mode=0o700, exist_ok=True)
                file.rename(target / file.name)
            except OSError as error:
                log.error("%s cannot be moved to %s (%s)", file, target, error.strerror)
