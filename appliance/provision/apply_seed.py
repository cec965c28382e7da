"""Writing what a seed wants: each file whole or not at all, and again after a cut, to the same end.

A seed is refused as a whole before this begins, and is taken off the card only after it: a start
that is cut short does all of it anew. Every folder on the way is root's, and reached by descriptor
(root_owned_folder.py): nothing is written, owned or removed by way of a link.
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

ZONE = "etc/localtime"  # a link into the zones
UNDONE = f"etc/interlude/{UNDO}"  # the settings before the last change
PULL = "etc/interlude/pull.env"  # where a fleet has its releases; a login may be in the address
WARNINGS = "var/log/interlude"  # names of networks and brokers may be in them
MOST_WIFI_BYTES = 65_536  # of a connection's file
_PRIVATE = 0o700
_FOLDERS = {"root/.ssh": _PRIVATE, "root": _PRIVATE, SECRETS: _PRIVATE}


@dataclass(frozen=True)
class ProvisionTarget:
    """Where it is written: `root` as it is now, and `keep`, which is laid over it at each start."""

    root: Path = Path("/")
    keep: Path = Path("/data/keep")
    disk: Disk = field(default_factory=Disk)


def apply(seed: Seed, ground: ProvisionTarget | None = None, *, tried: bool = False) -> list[str]:
    """Bring a box to what the seed says. Returns the paths that were written.

    `tried`: a box that keeps a Wi-Fi keeps it, and has that of the seed until its next start;
    afterwards one of keep_wifi and put_back_wifi is called.
    Raises SeedRefused with nothing written, StorageError.
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
    for base, path in wanted:  # a folder that cannot be used is found before anything is written
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
    """That of the running system, which has let the box in, for every start. Raises
    StorageError."""
    ground = ground or ProvisionTarget()
    _copy_wifi(ground.root, ground.keep, ground)


def put_back_wifi(ground: ProvisionTarget | None = None) -> bool:
    """The one that is kept, where another was tried. Returns whether one was. Raises
    StorageError."""
    ground = ground or ProvisionTarget()
    return os.path.lexists(ground.keep / CONNECTION) and _copy_wifi(
        ground.keep, ground.root, ground
    )


def remove_provisioning(ground: ProvisionTarget | None = None) -> None:
    """Take away what a seed, the set-up page or its owner brought, and what tells of them: as a box
    is that is given to somebody else. Their ssh keys, too: they are a way in.

    What stays is the box's own: its name for itself, its host keys, whose releases it installs.
    What the running system has in memory of it (its host name) goes with the next start.
    Raises StorageError.
    """
    ground = ground or ProvisionTarget()
    gone = [(base, path) for base in (ground.keep, ground.root) for path in (CONNECTION, KEYS)]
    gone += [(ground.keep, path) for path in (*OF_THE_SYSTEM, ZONE)]
    gone += [(ground.root, path) for path in (SETTINGS, UNDONE, WANTED, VOICE_WANTED, PULL)]
    # What a power cut left of each before it had its name.
    gone += [(base, str(fresh_name(Path(path)))) for base, path in gone]
    left = []
    for base, path in gone:
        if os.path.lexists(base / path):
            try:
                with _in_words(path), _folder_of(base, path, ground) as folder:
                    _erase(folder / Path(path).name)
            except StorageError as error:  # one stubborn file keeps no other
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
    """Returns whether there was another."""
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
    """Take files away from a folder that may be another user's: by its descriptor, so that whatever
    lies there, no file of another folder goes. Raises OSError."""
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
    """Files, or links themselves: their words overwritten, for passwords are in them. Raises
    OSError for the first that is left, after all were tried."""
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
    """Before anything is written: what cannot be a file is no seed."""
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
    """Raises StorageError, with the file's own name, for an OSError."""
    try:
        yield
    except StorageError:
        raise
    except OSError as error:
        raise StorageError(f"{path} could not be changed ({error.strerror}).") from error


def _write(place: Path, data: bytes, mode: int, disk: Disk) -> None:
    """Never readable by others for a moment, and there as a whole."""
    fresh = fresh_name(place)
    fresh.unlink(missing_ok=True)
    disk.write(fresh, data, mode)
    disk.sync(place.parent)
    disk.rename(fresh, place)


def _loads(data: bytes, machine: Machine) -> None:
    """Whether the box itself could use the settings; tried in memory. Raises SeedRefused."""
    fd = os.memfd_create("settings")
    try:
        os.write(fd, data)
        auto_detection.usable(load(Path(f"/proc/self/fd/{fd}")), machine)
    except SettingsError as error:
        said = error.problem.replace(f"/proc/self/fd/{fd}", "settings.yaml")
        raise SeedRefused(f"The box cannot use these settings: {said}") from error
    finally:
        os.close(fd)
