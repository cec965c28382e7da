"""`interlude system mdns`: has the page announced in the network, as the settings say."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from appliance.atomic_file import write_whole
from appliance.errors import SettingsError, StorageError
from appliance.page.announcement import announcement
from appliance.settings import Settings, load_defaults

FILE = Path("/etc/avahi/services/interlude.service")  # avahi looks into the folder when it changes


def cli(settings: Callable[[], Settings], file: Path = FILE) -> int:
    """With settings that cannot be used, the box goes on as before, and so does this. Raises
    StorageError."""
    try:
        wanted = announcement(settings().page)
    except SettingsError as error:
        print(f"<4>{error}")  # a warning: sd-daemon(3)
        if file.exists():
            return 0
        wanted = announcement(load_defaults().page)
    try:
        if not wanted:
            file.unlink(missing_ok=True)
        elif not file.exists() or file.read_bytes() != wanted:
            write_whole(file, wanted, lasting=False)
    except OSError as error:
        raise StorageError(f"{file} could not be written ({error.strerror}).") from error
    return 0
