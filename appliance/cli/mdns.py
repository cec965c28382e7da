"""`interlude system mdns`: writes avahi's file that announces the page, as the settings say."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from appliance.atomic_file import write_whole
from appliance.errors import SettingsError, StorageError
from appliance.page.announcement import announcement
from appliance.settings import Settings, load_defaults

FILE = Path("/etc/avahi/services/interlude.service")  # avahi watches this folder


def cli(settings: Callable[[], Settings], file: Path = FILE) -> int:
    """Write or remove avahi's file. If the settings cannot be used, an existing file stays: the box
    itself goes on with its last usable settings. Raises StorageError."""
    try:
        content = announcement(settings().page)
    except SettingsError as error:
        print(f"<4>{error}")  # a warning: sd-daemon(3)
        if file.exists():
            return 0
        content = announcement(load_defaults().page)
    try:
        if not content:
            file.unlink(missing_ok=True)
        elif not file.exists() or file.read_bytes() != content:
            write_whole(file, content, lasting=False)
    except OSError as error:
        raise StorageError(f"{file} could not be written ({error.strerror}).") from error
    return 0
