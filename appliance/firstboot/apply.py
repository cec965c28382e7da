"""Writing what a seed wants: each file whole or not at all, and again after a cut, to the same end.

A seed is refused as a whole before this begins, and is taken off the card only after it: a start
that is cut short does all of it anew.
"""

from __future__ import annotations

import os
import pwd
from dataclasses import dataclass, field
from pathlib import Path

from appliance.errors import SeedRefused, SettingsError, StorageError
from appliance.firstboot.plan import (
    CONNECTION,
    KEYS,
    OF_THE_SYSTEM,
    SECRETS,
    SETTINGS,
    WANTED,
    File,
    plan,
)
from appliance.firstboot.seed import Seed, check
from appliance.release.disk import Disk
from appliance.settings import load

ZONE = "etc/localtime"  # a link into the zones
WARNINGS = "var/log/interlude"  # names of networks and brokers may be in them
_PRIVATE = 0o700
_FOLDERS = {"root/.ssh": _PRIVATE, "root": _PRIVATE, SECRETS: _PRIVATE}


@dataclass(frozen=True)
class Ground:
    """Where it is written: `root` as it is now, and `keep`, which is laid over it at each start."""

    root: Path = Path("/")
    keep: Path = Path("/data/keep")
    disk: Disk = field(default_factory=Disk)


def apply(seed: Seed, ground: Ground | None = None) -> list[str]:
    """Bring a box to what the seed says. Returns the paths that were written.

    Raises SeedRefused with nothing written, StorageError.
    """
    ground = ground or Ground()
    check(seed)
    if seed.timezone and not (ground.root / "usr/share/zoneinfo" / seed.timezone).is_file():
        raise SeedRefused(f"There is no time zone `{seed.timezone}`.", "Use one as Europe/Berlin.")
    now = ground.root / SETTINGS
    files = plan(seed, now.read_text(encoding="utf-8") if now.is_file() else "")
    try:
        for file in files:
            if file.path == SETTINGS:
                _loads(file, ground)
        for file in files:
            for place in _places(file, ground):
                _write(place, file, ground.disk)
        if seed.timezone:
            for base in (ground.keep, ground.root):
                _folder(base, Path("etc"), ground.disk)
                zone = f"/usr/share/zoneinfo/{seed.timezone}"
                ground.disk.link(base / ZONE, zone)
    except OSError as error:
        if isinstance(error, StorageError):
            raise
        problem = f"{error.filename or 'The card'}: {error.strerror}."
        raise StorageError(f"What the seed says could not all be written: {problem}") from error
    return [file.path for file in files]


def forget(ground: Ground | None = None) -> None:
    """Take away what a seed, the set-up page or its owner brought, and what tells of them: as a box
    is that is given to somebody else. Their ssh keys, too: they are a way in.

    What stays is the box's own: its name for itself, its host keys, whose releases it installs.
    What the running system has in memory of it (its host name) goes with the next start.
    Raises StorageError.
    """
    ground = ground or Ground()
    gone = [base / path for base in (ground.keep, ground.root) for path in (CONNECTION, KEYS)]
    gone += [ground.keep / path for path in (*OF_THE_SYSTEM, ZONE)]
    gone += [ground.root / path for path in (SETTINGS, WANTED)]
    gone += [*(ground.root / SECRETS).glob("*"), *(ground.root / WARNINGS).glob("warnings.log*")]
    try:
        for path in gone:
            if path.exists() or path.is_symlink():
                ground.disk.remove(path)
    except OSError as error:
        raise StorageError(f"{error.filename}: {error.strerror}.") from error


def _places(file: File, ground: Ground) -> list[Path]:
    bases = [ground.root] if file.own else [ground.keep, ground.root]
    for base in bases:
        _folder(base, Path(file.path).parent, ground.disk)
    return [base / file.path for base in bases]


def _folder(base: Path, folder: Path, disk: Disk) -> None:
    """Make it, with those around it; a private one private, one that is there as it is."""
    for part in reversed([folder, *folder.parents][:-1]):
        if not (base / part).is_dir():
            disk.make_folder(base / part)
            (base / part).chmod(_FOLDERS.get(str(part), 0o755))


def _write(place: Path, file: File, disk: Disk) -> None:
    """Never readable by others for a moment, and there as a whole."""
    fresh = place.with_name(f".{place.name}.new")
    fresh.unlink(missing_ok=True)
    os.close(os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    disk.write(fresh, file.text.encode(), file.mode)
    if os.geteuid() == 0 and file.owner != "root":
        user = pwd.getpwnam(file.owner)
        os.chown(fresh, user.pw_uid, user.pw_gid)
    disk.settle(place.parent)
    disk.rename(fresh, place)


def _loads(file: File, ground: Ground) -> None:
    """Whether the box itself could use the settings. Raises SeedRefused."""
    trial = ground.root / SETTINGS
    trial = trial.with_name(".settings.trial.yaml")
    _folder(ground.root, Path(SETTINGS).parent, ground.disk)
    trial.write_text(file.text, encoding="utf-8")
    try:
        load(trial)
    except SettingsError as error:
        raise SeedRefused(f"The box cannot use these settings: {error.problem}") from error
    finally:
        trial.unlink()
