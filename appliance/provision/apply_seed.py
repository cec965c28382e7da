"""Writes the files of a seed, each atomically, and removes them at a reset.

A seed is validated as a whole before anything is written, and is wiped off the card only after all
is written: a boot that is interrupted repeats all of it, with the same result. Every folder on the
path must belong to root and is opened by descriptor (root_owned_folder.py), so that no symlink is
followed when a file is written, changed or removed.
"""

from __future__ import annotations

import fnmatch
import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from appliance.atomic_file import fresh_name, read_small
from appliance.errors import SeedRefused, SettingsError, StorageError
from appliance.language.catalogue import BoxSentence
from appliance.panel import auto_detection
from appliance.provision import time_zones
from appliance.provision.refusal import SayableRefusal
from appliance.provision.root_owned_folder import own_folder
from appliance.provision.seed import Seed, check
from appliance.provision.seed_files import (
    CONNECTION,
    KEYS,
    OF_THE_SYSTEM,
    SECRETS,
    SETTINGS,
    VOICE_WANTED,
    WANTED,
    PlannedFile,
    plan,
)
from appliance.runtime.machine import Machine
from appliance.runtime.secure_erase import erase
from appliance.settings import load
from appliance.settings.owner_settings import UNDO
from appliance.update.release.disk_changes import Disk

ZONE = "etc/localtime"  # a symlink to the zone's file
UNDONE = f"etc/interlude/{UNDO}"  # the settings before the last change
PULL = "etc/interlude/pull.env"  # address of a fleet's releases, which may contain a login
WARNINGS = "var/log/interlude"  # logs that may contain names of networks and brokers
MOST_WIFI_BYTES = 65_536  # of a connection's file
_PRIVATE = 0o700
_FOLDERS = {"root/.ssh": _PRIVATE, "root": _PRIVATE, SECRETS: _PRIVATE}


@dataclass(frozen=True)
class ProvisionTarget:
    """The folders to write to: the running `root`, and `keep`, which overlays it at each boot."""

    root: Path = Path("/")
    keep: Path = Path("/data/keep")
    disk: Disk = field(default_factory=Disk)


def apply(seed: Seed, ground: ProvisionTarget | None = None, *, tried: bool = False) -> list[str]:
    """Write the files of a seed. Returns their paths.

    `tried`: if the box has a saved Wi-Fi, the seed's Wi-Fi is written to the running system only,
    where it lasts until the next boot; the caller then calls keep_wifi or put_back_wifi.
    Raises SeedRefused before anything is written, StorageError.
    """
    ground = ground or ProvisionTarget()
    check(seed)
    if seed.timezone:
        if not (zone := time_zones.find_zone(ground.root, seed.timezone)):
            raise SayableRefusal(BoxSentence.of("page-wrong-no-zone", zone=seed.timezone[:60]))
        seed = replace(seed, timezone=zone)
    files = plan(seed, _settings_now(ground))
    ready = [(file, _encoded(file)) for file in files]
    for file, data in ready:
        if file.path == SETTINGS:
            _loads(data, Machine(ground.root))
    tried = tried and os.path.lexists(ground.keep / CONNECTION)
    bases = {file.path: _bases(file, ground, tried=tried) for file in files}
    wanted = [(base, file.path) for file in files for base in bases[file.path]]
    wanted += [(base, ZONE) for base in (ground.keep, ground.root) if seed.timezone]
    for base, path in wanted:  # check all folders before anything is written
        with _in_words(path), _folder_of(base, path, ground):
            pass
    for file, data in ready:
        for base in bases[file.path]:
            with _in_words(file.path), _folder_of(base, file.path, ground) as folder:
                _write(folder / Path(file.path).name, data, file.mode, ground.disk)
    if seed.timezone:
        for base in (ground.keep, ground.root):
            with _in_words(ZONE), _folder_of(base, ZONE, ground) as folder:
                ground.disk.link(folder / Path(ZONE).name, f"/{time_zones.FOLDER}/{seed.timezone}")
    return [file.path for file in files]


def keep_wifi(ground: ProvisionTarget | None = None) -> None:
    """Save the Wi-Fi of the running system, to which the box has connected. Raises StorageError."""
    ground = ground or ProvisionTarget()
    _copy_wifi(ground.root, ground.keep, ground)


def put_back_wifi(ground: ProvisionTarget | None = None) -> bool:
    """Restore the saved Wi-Fi in the running system. Returns whether another one was there. Raises
    StorageError."""
    ground = ground or ProvisionTarget()
    return os.path.lexists(ground.keep / CONNECTION) and _copy_wifi(
        ground.keep, ground.root, ground
    )


def remove_provisioning(ground: ProvisionTarget | None = None) -> None:
    """Erase all data of a seed, of the set-up page and of the owner, and logs with such data, so
    that the box can be given away. The owner's ssh keys are erased, since they give access.

    The box keeps its own name for itself, its ssh host keys, and the keys of trusted releases. The
    host name in the running kernel lasts until the next boot. Raises StorageError.
    """
    ground = ground or ProvisionTarget()
    gone = [(base, path) for base in (ground.keep, ground.root) for path in (CONNECTION, KEYS)]
    gone += [(ground.keep, path) for path in (*OF_THE_SYSTEM, ZONE)]
    gone += [(ground.root, path) for path in (SETTINGS, UNDONE, WANTED, VOICE_WANTED, PULL)]
    # Temporary files that a power cut left before their rename.
    gone += [(base, str(fresh_name(Path(path)))) for base, path in gone]
    left = []
    for base, path in gone:
        if os.path.lexists(base / path):
            try:
                with _in_words(path), _folder_of(base, path, ground) as folder:
                    _erase(folder / Path(path).name)
            except StorageError as error:  # go on with the other files
                left.append(error.problem)
    for path, names in ((SECRETS, "*"), (WARNINGS, "warnings.log*")):
        try:
            with _in_words(path):
                _empty(ground.root / path, names)
        except StorageError as error:
            left.append(error.problem)
    if left:
        raise StorageError(" ".join(left))


def _copy_wifi(source: Path, to: Path, ground: ProvisionTarget) -> bool:
    """Copy the Wi-Fi's file. Returns whether `to` had none or another."""
    name = Path(CONNECTION).name
    with (
        _in_words(CONNECTION),
        _folder_of(source, CONNECTION, ground) as read,
        _folder_of(to, CONNECTION, ground) as folder,
    ):
        data = read_small(read / name, MOST_WIFI_BYTES)
        place = folder / name
        if place.exists() and read_small(place, MOST_WIFI_BYTES) == data:
            return False
        _write(place, data, 0o600, ground.disk)
        return True


def _empty(folder: Path, names: str) -> None:
    """Erase files in a folder that may belong to another user. The access goes through the folder's
    descriptor, so that no file of another folder can be erased. Raises OSError."""
    try:
        fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        here = Path(f"/proc/self/fd/{fd}")
        found = os.listdir(fd)  # noqa: PTH208  # by descriptor
        _erase(*(here / name for name in fnmatch.filter(found, names)))
    finally:
        os.close(fd)


def _erase(*paths: Path) -> None:
    """Overwrite and remove files, which may contain passwords; remove symlinks themselves. Raises
    OSError for the first one that remains, after all were tried."""
    for left in erase(paths):
        raise OSError(0, left.why, left.path.name)


def _settings_now(ground: ProvisionTarget) -> str:
    try:
        return (ground.root / SETTINGS).read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""
    except UnicodeDecodeError as error:
        problem = "The settings of this box cannot be read; nothing was changed."
        raise SeedRefused(problem) from error
    except OSError as error:
        problem = f"{SETTINGS} could not be read ({error.strerror}); nothing was changed."
        raise StorageError(problem) from error


def _encoded(file: PlannedFile) -> bytes:
    """The file's content in UTF-8, encoded before anything is written. Raises SeedRefused."""
    try:
        return file.text.encode()
    except UnicodeEncodeError as error:
        raise SeedRefused(f"What belongs into {file.path} has letters that are none.") from error


def _bases(file: PlannedFile, ground: ProvisionTarget, *, tried: bool) -> list[Path]:
    here = file.own or (tried and file.path == CONNECTION)
    return [ground.root] if here else [ground.keep, ground.root]


def _folder_of(base: Path, path: str, ground: ProvisionTarget) -> AbstractContextManager[Path]:
    return own_folder(base, Path(path).parent, ground.disk, _FOLDERS)


@contextmanager
def _in_words(path: str) -> Iterator[None]:
    """Convert an OSError to a StorageError that names the file."""
    try:
        yield
    except StorageError:
        raise
    except OSError as error:
        raise StorageError(f"{path} could not be changed ({error.strerror}).") from error


def _write(place: Path, data: bytes, mode: int, disk: Disk) -> None:
    """Write a file atomically; its temporary file never has wider permissions than `mode`."""
    fresh = fresh_name(place)
    fresh.unlink(missing_ok=True)
    disk.write(fresh, data, mode)
    disk.sync(place.parent)
    disk.rename(fresh, place)


def _loads(data: bytes, machine: Machine) -> None:
    """Load the settings from a file in memory. Raises SeedRefused if the box cannot use them."""
    fd = os.memfd_create("settings")
    try:
        os.write(fd, data)
        auto_detection.usable(load(Path(f"/proc/self/fd/{fd}")), machine)
    except SettingsError as error:
        said = error.problem.replace(f"/proc/self/fd/{fd}", "settings.yaml")
        raise SeedRefused(f"The box cannot use these settings: {said}") from error
    finally:
        os.close(fd)
