"""Writes the files of a seed, each atomically, and removes them at a reset.

A seed is validated as a whole before anything is written, and is wiped off the card only after all
is written: a boot that is interrupted repeats all of it, with the same result. Every folder on the
path must belong to root and is opened by descriptor (root_owned_folder.py), so that no symlink is
followed when a file is written, changed or removed.
"""

from __future__ import annotations

import contextlib
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
from appliance.provision.seed import Seed, WifiNetwork, check
from appliance.provision.seed_files import (
    CONNECTION,
    KEYS,
    OF_THE_SYSTEM,
    SECRETS,
    SETTINGS,
    UNCONFIRMED,
    VOICE_WANTED,
    WANTED,
    PlannedFile,
    connection,
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


def apply(
    seed: Seed,
    target: ProvisionTarget | None = None,
    *,
    tried: bool = False,
    confirmed: bool = True,
) -> list[str]:
    """Write the files of a seed. Returns their paths.

    `tried`: the seed's Wi-Fi is written to the running system only, where it lasts until the next
    boot, if the box has a saved one or this one is not `confirmed`; the caller then calls keep_wifi
    or put_back_wifi. `confirmed`: the Wi-Fi replaces the saved one, else it is a second one.
    Raises SeedRefused before anything is written, StorageError.
    """
    target = target or ProvisionTarget()
    check(seed)
    if seed.timezone:
        if not (zone := time_zones.find_zone(target.root, seed.timezone)):
            raise SayableRefusal(BoxSentence.of("page-wrong-no-zone", zone=seed.timezone[:60]))
        seed = replace(seed, timezone=zone)
    files = plan(seed, _settings_now(target), confirmed=confirmed)
    contents = [(file, _encoded(file)) for file in files]
    for file, data in contents:
        if file.path == SETTINGS:
            _check_settings(data, Machine(target.root))
    tried = tried and (not confirmed or os.path.lexists(target.keep / CONNECTION))
    bases = {file.path: _bases(file, target, tried=tried) for file in files}
    places = [(base, file.path) for file in files for base in bases[file.path]]
    places += [(base, ZONE) for base in (target.keep, target.root) if seed.timezone]
    for base, path in places:  # check all folders before anything is written
        with _storage_errors(path), _folder_of(base, path, target):
            pass
    for file, data in contents:
        for base in bases[file.path]:
            with _storage_errors(file.path), _folder_of(base, file.path, target) as folder:
                _write(folder / Path(file.path).name, data, file.mode, target.disk)
    if seed.timezone:
        for base in (target.keep, target.root):
            with _storage_errors(ZONE), _folder_of(base, ZONE, target) as folder:
                target.disk.link(folder / Path(ZONE).name, f"/{time_zones.FOLDER}/{seed.timezone}")
    return [file.path for file in files]


def is_saved(wifi: WifiNetwork, target: ProvisionTarget) -> bool:
    """Whether it is the saved Wi-Fi, with the same password. Raises StorageError."""
    with _storage_errors(CONNECTION), contextlib.suppress(FileNotFoundError):
        saved = read_small(target.keep / CONNECTION, MOST_WIFI_BYTES)
        return saved == connection(wifi).encode()
    return False


def keep_wifi(target: ProvisionTarget | None = None, *, confirmed: bool = True) -> None:
    """Save the Wi-Fi of the running system, to which the box has connected: as the only one, or
    beside the saved one if it is not `confirmed`. Raises StorageError."""
    target = target or ProvisionTarget()
    _copy_wifi(target.root, target.keep, target, CONNECTION if confirmed else UNCONFIRMED)
    if confirmed:
        forget_unconfirmed(target)


def forget_unconfirmed(target: ProvisionTarget) -> None:
    """Erase the second Wi-Fi. Raises StorageError."""
    for base in (target.keep, target.root):
        if os.path.lexists(base / UNCONFIRMED):
            with _storage_errors(UNCONFIRMED), _folder_of(base, UNCONFIRMED, target) as folder:
                _erase(folder / Path(UNCONFIRMED).name)


def put_back_wifi(target: ProvisionTarget | None = None) -> bool:
    """Restore the saved Wi-Fi in the running system. Returns whether another one was there. Raises
    StorageError."""
    target = target or ProvisionTarget()
    return os.path.lexists(target.keep / CONNECTION) and _copy_wifi(
        target.keep, target.root, target
    )


def remove_provisioning(target: ProvisionTarget | None = None) -> None:
    """Erase all data of a seed, of the set-up page and of the owner, and logs with such data, so
    that the box can be given away. The owner's ssh keys are erased, since they give access.

    The box keeps its own name for itself, its ssh host keys, and the keys of trusted releases. The
    host name in the running kernel lasts until the next boot. Raises StorageError.
    """
    target = target or ProvisionTarget()
    both = (CONNECTION, UNCONFIRMED, KEYS)
    erased = [(base, path) for base in (target.keep, target.root) for path in both]
    erased += [(target.keep, path) for path in (*OF_THE_SYSTEM, ZONE)]
    erased += [(target.root, path) for path in (SETTINGS, UNDONE, WANTED, VOICE_WANTED, PULL)]
    # Temporary files that a power cut left before their rename.
    erased += [(base, str(fresh_name(Path(path)))) for base, path in erased]
    problems = []
    for base, path in erased:
        if os.path.lexists(base / path):
            try:
                with _storage_errors(path), _folder_of(base, path, target) as folder:
                    _erase(folder / Path(path).name)
            except StorageError as error:  # go on with the other files
                problems.append(error.problem)
    for path, names in ((SECRETS, "*"), (WARNINGS, "warnings.log*")):
        try:
            with _storage_errors(path):
                _erase_matching(target.root / path, names)
        except StorageError as error:
            problems.append(error.problem)
    if problems:
        raise StorageError(" ".join(problems))


def _copy_wifi(
    source: Path, destination: Path, target: ProvisionTarget, path: str = CONNECTION
) -> bool:
    """Copy the Wi-Fi's file. Returns whether `destination` had none or another."""
    name = Path(path).name
    with (
        _storage_errors(path),
        _folder_of(source, path, target) as read,
        _folder_of(destination, path, target) as folder,
    ):
        data = read_small(read / name, MOST_WIFI_BYTES)
        place = folder / name
        if place.exists() and read_small(place, MOST_WIFI_BYTES) == data:
            return False
        _write(place, data, 0o600, target.disk)
        return True


def _erase_matching(folder: Path, pattern: str) -> None:
    """Erase files in a folder that may belong to another user. The access goes through the folder's
    descriptor, so that no file of another folder can be erased. Raises OSError."""
    try:
        fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        by_descriptor = Path(f"/proc/self/fd/{fd}")
        entries = os.listdir(fd)  # noqa: PTH208  # by descriptor
        _erase(*(by_descriptor / name for name in fnmatch.filter(entries, pattern)))
    finally:
        os.close(fd)


def _erase(*paths: Path) -> None:
    """Overwrite and remove files, which may contain passwords; remove symlinks themselves. Raises
    OSError for the first one that remains, after all were tried."""
    for remaining in erase(paths):
        raise OSError(0, remaining.why, remaining.path.name)


def _settings_now(target: ProvisionTarget) -> str:
    try:
        return (target.root / SETTINGS).read_text(encoding="utf-8")
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
        raise SeedRefused(f"The text for {file.path} cannot be encoded in UTF-8.") from error


def _bases(file: PlannedFile, target: ProvisionTarget, *, tried: bool) -> list[Path]:
    running_only = file.own or (tried and file.path in (CONNECTION, UNCONFIRMED))
    return [target.root] if running_only else [target.keep, target.root]


def _folder_of(base: Path, path: str, target: ProvisionTarget) -> AbstractContextManager[Path]:
    return own_folder(base, Path(path).parent, target.disk, _FOLDERS)


@contextmanager
def _storage_errors(path: str) -> Iterator[None]:
    """Convert an OSError to a StorageError that names the file."""
    try:
        yield
    except StorageError:
        raise
    except OSError as error:
        raise StorageError(f"{path} could not be changed ({error.strerror}).") from error


def _write(path: Path, data: bytes, mode: int, disk: Disk) -> None:
    """Write a file atomically; its temporary file never has wider permissions than `mode`."""
    temporary = fresh_name(path)
    temporary.unlink(missing_ok=True)
    disk.write(temporary, data, mode)
    disk.sync(path.parent)
    disk.rename(temporary, path)


def _check_settings(data: bytes, machine: Machine) -> None:
    """Load the settings from a file in memory. Raises SeedRefused if the box cannot use them."""
    fd = os.memfd_create("settings")
    try:
        os.write(fd, data)
        auto_detection.usable(load(Path(f"/proc/self/fd/{fd}")), machine)
    except SettingsError as error:
        problem = error.problem.replace(f"/proc/self/fd/{fd}", "settings.yaml")
        raise SeedRefused(f"The box cannot use these settings: {problem}") from error
    finally:
        os.close(fd)
