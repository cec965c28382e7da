"""How a part without rights has a release installed: it asks, root looks, the signature decides.

The link puts an archive into the incoming folder and asks for it; interlude-update.path sees that
and starts interlude-update.service, which runs `interlude release install --wanted`. For a system
(`.system`) there are a path, a service and a verb of that name. What comes of it stands in a file
that anybody may read. This is what an update button needs:

    offers()          what lies ready, newer than what is kept
    ask(offer)        have it installed
    how_it_goes()     what is being done, how far it is, what went wrong
"""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

import msgspec

from appliance.errors import InterludeError, ReleaseRefused
from appliance.files import write_whole
from appliance.release import archive, fallback
from appliance.release.install import Installer, Wishes
from appliance.release.manifest import version_key
from appliance.release.shelf import TRIAL, Shelf
from appliance.slots import archive as systems
from appliance.slots import machine

INCOMING = Path("/var/lib/interlude-incoming")  # tmpfiles.d: root's, sticky, written by its group
WANTED = "wanted"  # interlude-update.path waits for a file of this name
WANTED_SYSTEM = "wanted-system"  # and interlude-system.path for one of this
PROGRESS = "progress.json"
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*")


@dataclass(frozen=True)
class Offer:
    """An archive that lies ready. Its version is what it says of itself, unverified."""

    version: str
    file: Path


class Going(msgspec.Struct, frozen=True):
    """How an installation goes. `step`: in a word or two; "" when it has ended."""

    version: str = ""
    step: str = ""
    share: float = 0.0
    problem: str = ""


def offers(
    shelf: Shelf | None = None, incoming: Path = INCOMING, os_release: Path = machine.RELEASE
) -> list[Offer]:
    """What could be installed: releases, then systems, each newest first and newer than what there
    is. A system is for a card of ours only."""
    return [*_releases(shelf, incoming), *_systems(incoming, machine.version(os_release))]


def _releases(shelf: Shelf | None, incoming: Path) -> list[Offer]:
    shelf = shelf or Shelf()
    kept, left = shelf.kept(), fallback.left(shelf)  # what did not stay up is not offered again
    found = []
    for file in sorted(incoming.glob(f"*{archive.SUFFIX}")):
        said = archive.look(file)
        newer = said and (kept is None or version_key(said.version) > version_key(kept))
        if said and newer and said.version != left:
            found.append(Offer(said.version, file))
    return _newest_first(found)


def _systems(incoming: Path, runs: str | None) -> list[Offer]:
    if runs is None:
        return []
    found = []
    for file in sorted(incoming.glob(f"*{systems.SUFFIX}")):
        said = systems.look(file)
        if said and version_key(said.version) > version_key(runs):
            found.append(Offer(said.version, file))
    return _newest_first(found)


def _newest_first(found: list[Offer]) -> list[Offer]:
    return sorted(found, key=lambda offer: version_key(offer.version), reverse=True)


def ask(offer: Offer) -> None:
    """Have an offer installed. Returns at once; `how_it_goes` tells. Raises OSError."""
    note = WANTED_SYSTEM if offer.file.suffix == systems.SUFFIX else WANTED
    write_whole(offer.file.with_name(note), offer.file.name.encode(), lasting=False)


def how_it_goes(folder: Path = TRIAL) -> Going:
    """The installation that somebody asked for, or how the last one ended since the power came."""
    try:
        return msgspec.json.decode((folder / PROGRESS).read_bytes(), type=Going)
    except (OSError, msgspec.DecodeError):
        return Going()


def install_wanted(installer: Installer, wishes: Wishes, incoming: Path = INCOMING) -> bool:
    """As root: install what was asked for, once. Raises what Installer.install raises."""
    file = take(incoming, WANTED, archive.SUFFIX)
    shelf = installer.shelf
    said = archive.look(file)
    version = said.version if said else file.name
    teller = Teller(shelf.trial_folder, version)
    teller.progress("look", 0.0)  # how the last one ended is no word about this one
    # A copy that the asker cannot change between the check and the unpacking.
    mine = shelf.root / f".wanted{archive.SUFFIX}"
    try:
        try:
            shutil.copyfile(file, mine, follow_symlinks=False)
            told = Installer(shelf, installer.box, installer.signers, teller.progress)
            changed = told.install(mine, wishes)
        finally:
            mine.unlink(missing_ok=True)
    except InterludeError as error:
        teller.end(str(error))
        raise
    except OSError as error:
        teller.end(f"{file.name} cannot be read ({error.strerror}).")
        raise
    teller.end()
    file.unlink(missing_ok=True)
    return changed


def take(incoming: Path, wanted: str, suffix: str) -> Path:
    """The file that was asked for; the request is gone, so that a failure is not repeated.

    Raises ReleaseRefused for a request that names none of that kind.
    """
    note = incoming / wanted
    try:
        name = note.read_text(encoding="utf-8")[:255].strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ReleaseRefused("Nobody asked for one.") from error
    finally:
        note.unlink(missing_ok=True)
    file = incoming / name if _PLAIN.fullmatch(name) else None
    if file is None or file.suffix != suffix or file.is_symlink():
        raise ReleaseRefused(f"`{name}` is no {suffix} file in {incoming}.")
    return file


class Teller:
    """Writes how it goes, at most once a percent."""

    def __init__(self, folder: Path, version: str) -> None:
        self._path = folder / PROGRESS
        self._version = version
        self._last = Going()

    def progress(self, step: str, share: float) -> None:
        self._write(Going(self._version, step, round(share, 2)))

    def end(self, problem: str = "") -> None:
        self._write(Going(self._version, problem=problem))

    def _write(self, going: Going) -> None:
        if going == self._last:
            return
        self._last = going
        self._path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(self._path, msgspec.json.encode(going), lasting=False)
