"""Update requests: an unprivileged process asks for an installation, a root process carries it out.

The requesting process writes a note with the name of an archive into the incoming folder;
interlude-update.path sees the note and starts interlude-update.service, which runs
`interlude release install --wanted` as root and checks the signature. For a system (`.system`) the
units are interlude-system.path and .service, and the command is `interlude system install
--wanted`. Root's progress file is readable by every user. An update button needs these functions:

    offers()           the archives that are newer than what is installed
    request_install()  have one of them installed
    request_return()   go back to the previous release or system
    read_progress()    the current step, its share, and the last problem
"""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from appliance.atomic_file import write_whole
from appliance.errors import InterludeError, ReleaseRefused, ShownAs, StorageError
from appliance.record_file import read_record
from appliance.update.handed_over_file import HandedOverFile, pop_owned_note, write_note
from appliance.update.release import fallback
from appliance.update.release.archive import RELEASE
from appliance.update.release.installer import InstallOptions, ReleaseInstaller
from appliance.update.release.rejected import is_newer
from appliance.update.release.store import TRIAL, ReleaseStore
from appliance.update.signed_archive import ArchiveKind
from appliance.update.signed_manifest import version_key
from appliance.update.system import target
from appliance.update.system.archive import SYSTEM_ARCHIVE

INCOMING = Path("/var/lib/interlude-incoming")  # tmpfiles.d: root's, sticky, written by its group
WANTED = "wanted"  # interlude-update.path waits for a file of this name
WANTED_SYSTEM = "wanted-system"  # interlude-system.path waits for a file of this name
PREVIOUS = "previous"  # in a note, in place of a file's name: go back
PROGRESS = "progress.json"
MOST_NAMES = 1000  # read from the incoming folder, which other users may fill without limit
MOST_FILES = 32  # opened of each kind; a box has one or two
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*")


@dataclass(frozen=True)
class UpdateOffer:
    """An archive in the incoming folder. `version`: from its manifest, not verified."""

    version: str
    file: Path


class InstallProgress(msgspec.Struct, frozen=True):
    """Progress of an installation. `step`: in a word or two; "" after its end. `key`, `values`:
    the problem as a sentence of the catalogue (errors.ShownAs); "" if there is none."""

    version: str = ""
    step: str = ""
    share: float = 0.0
    problem: str = ""
    key: str = ""
    values: dict[str, str | int | float] = {}


@dataclass(frozen=True)
class UpdateKind:
    """A kind of archive that may be requested. `note`: the name of the note that requests one."""

    archive: ArchiveKind[Any]
    note: str

    def version(self, file: Path | HandedOverFile) -> str:
        """The version in the file's manifest, not verified; "" for a file of another kind."""
        manifest = self.archive.peek(file)
        return manifest.version if manifest else ""


RELEASES = UpdateKind(RELEASE, WANTED)
SYSTEMS = UpdateKind(SYSTEM_ARCHIVE, WANTED_SYSTEM)


def offers(
    store: ReleaseStore | None = None, incoming: Path = INCOMING, os_release: Path = target.RELEASE
) -> list[UpdateOffer]:
    """The archives that are newer than what is installed: releases, then systems, newest first.

    Systems are offered only on a card that was made from our image."""
    runs, store = target.version(os_release), store or ReleaseStore()
    security = store.security()
    of_systems = [] if runs is None else _newer(incoming, SYSTEMS, runs, security.least_system)
    try:
        kept = store.floor()
    except StorageError:  # the installed version is unknown, so "newer" is undefined
        return of_systems
    replaced = fallback.left(store)  # a release that the fallback replaced is not offered again
    newer = _newer(incoming, RELEASES, kept, security.least_version)
    return [*(offer for offer in newer if offer.version != replaced), *of_systems]


def _newer(incoming: Path, kind: UpdateKind, than: str | None, least: str) -> list[UpdateOffer]:
    """The offers newer than `than` and not below the floor `least`, newest first. `_files` limits
    their number, since each file costs reads of up to 100 KiB."""
    found = []
    for file in _files(incoming, kind.archive.suffix):
        version = kind.version(file)
        newer = version and (than is None or version_key(version) > version_key(than))
        if newer and not is_newer(least, version):
            found.append(UpdateOffer(version, file))
    return sorted(found, key=lambda offer: version_key(offer.version), reverse=True)


def _files(incoming: Path, suffix: str) -> list[Path]:
    try:
        with os.scandir(incoming) as entries:
            names = [entry.name for entry in islice(entries, MOST_NAMES)]
    except OSError:
        return []
    fit = [name for name in names if name.endswith(suffix) and _PLAIN.fullmatch(name)]
    return [incoming / name for name in sorted(fit, reverse=True)[:MOST_FILES]]


def request_install(offer: UpdateOffer) -> None:
    """Request the installation of `offer`. Returns at once; see `read_progress`. Raises OSError."""
    kind = SYSTEMS if offer.file.suffix == SYSTEM_ARCHIVE.suffix else RELEASES
    write_note(offer.file.with_name(kind.note), offer.file.name)


def request_return(incoming: Path = INCOMING, kind: UpdateKind = RELEASES) -> None:
    """Request the return to the previous release or system. Returns at once. Raises OSError.

    This is one step only: the release that was left becomes the previous one, so nothing older can
    be requested.
    """
    write_note(incoming / kind.note, PREVIOUS)


def returns_to(store: ReleaseStore) -> str | None:
    """The release to which the box may return; None if the fallback left that one, or it is below
    the floor. Root also verifies its signature, at the return."""
    previous = store.previous()
    if previous is None or previous == fallback.left(store):
        return None
    return None if is_newer(store.security().least_version, previous) else previous


def read_progress(folder: Path = TRIAL) -> InstallProgress:
    """The running installation, or the result of the last one since the machine started."""
    return read_record(folder / PROGRESS, InstallProgress) or InstallProgress()


def install_wanted(
    installer: ReleaseInstaller, options: InstallOptions, incoming: Path = INCOMING
) -> bool:
    """As root: carry out the request in the note, an installation or a return, and remove the note.

    Raises what ReleaseInstaller.install raises."""
    store, (name, owner) = installer.store, pop_owned_note(incoming / RELEASES.note)
    if name == PREVIOUS:
        return _go_back(installer, dataclasses.replace(options, asked_by=owner))
    with requested_file(name, incoming, RELEASES, store.trial_folder) as (source, writer):
        reporting = ReleaseInstaller(store, installer.box, installer.signers, writer.update)
        return reporting.install(source, options)


def _go_back(installer: ReleaseInstaller, options: InstallOptions) -> bool:
    store = installer.store
    version = returns_to(store)
    with recorded_end(ProgressWriter(store.trial_folder, version or PREVIOUS)) as writer:
        if version is None:
            raise nothing_before()
        ReleaseInstaller(store, installer.box, installer.signers, writer.update).rollback(options)
    return True


def nothing_before() -> ReleaseRefused:
    return ReleaseRefused(
        "There is nothing earlier to go back to.", shown=ShownAs.of("page-wrong-nothing-before")
    )


@contextmanager
def recorded_end(writer: ProgressWriter) -> Iterator[ProgressWriter]:
    """Record the end of the block with `writer`, also if it raises an InterludeError."""
    try:
        yield writer
    except InterludeError as error:
        writer.finish(error)
        raise
    writer.finish()


@contextmanager
def requested_file(
    name: str, incoming: Path, kind: UpdateKind, folder: Path
) -> Iterator[tuple[HandedOverFile, ProgressWriter]]:
    """Open the requested file `name`; yield it and a writer of its progress into `folder`.

    Removes the file after a success. Raises ReleaseRefused for a name that is not a file of that
    kind, StorageError.
    """
    if not name:
        raise ReleaseRefused(
            "No installation was requested.", shown=ShownAs.of("page-software-not-ready")
        )
    if not _PLAIN.fullmatch(name) or not name.endswith(kind.archive.suffix):
        raise ReleaseRefused(
            f"The requested name is not a {kind.archive.suffix} file in {incoming}.",
            shown=ShownAs.of("page-software-not-ready"),
        )
    writer = ProgressWriter(folder, name)
    try:
        with HandedOverFile(incoming / name, kind.archive.most_bytes) as source:
            writer = ProgressWriter(folder, kind.version(source) or name)
            writer.update("look", 0.0)  # replaces the result of the last installation
            yield source, writer
            source.remove()
    except InterludeError as error:
        writer.finish(error)
        raise
    except OSError as error:
        why = error.strerror or ""
        shown = ShownAs.of("page-wrong-not-installed", file=name, why=why)
        writer.finish(StorageError(f"{name} could not be installed ({why}).", shown=shown))
        raise
    writer.finish()


class ProgressWriter:
    """Writes the progress file, at most once a percent."""

    def __init__(self, folder: Path, version: str) -> None:
        self._path = folder / PROGRESS
        self._version = version
        self._last = InstallProgress()

    def update(self, step: str, share: float) -> None:
        self._write(InstallProgress(self._version, step, round(share, 2)))

    def finish(self, error: InterludeError | None = None) -> None:
        if error is None:
            self._write(InstallProgress(self._version))
            return
        key, values = error.on_page
        failed = InstallProgress(self._version, problem=str(error), key=key, values=dict(values))
        self._write(failed)

    def _write(self, progress: InstallProgress) -> None:
        if progress == self._last:
            return
        self._last = progress
        self._path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(self._path, msgspec.json.encode(progress), lasting=False)
