"""Copies a newer release or system from a USB stick into the incoming folder.

In: a read-only folder with untrusted files. Out: complete archives that are newer than what is
installed, for this machine, and signed by a trusted key. This module requests no installation, and
the root process verifies each archive again before it installs it. Runs as an unprivileged user.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable
from pathlib import Path

from appliance.atomic_file import sync_folder
from appliance.errors import ReleaseRefused, ShownAs, StorageError
from appliance.language.catalogue import BoxSentence
from appliance.runtime.free_space import free_bytes
from appliance.update import request
from appliance.update.handed_over_file import HandedOverFile
from appliance.update.incoming_space import check_space
from appliance.update.partial_file import open_new
from appliance.update.release.archive import RELEASE, ReleaseArchive
from appliance.update.release.look_record import LookReporter
from appliance.update.release.store import ReleaseStore
from appliance.update.request import UpdateKind, UpdateOffer
from appliance.update.signature import SIGNERS
from appliance.update.signed_manifest import fits
from appliance.update.system import target
from appliance.update.system.archive import SystemArchive

BROUGHT = "stick-"  # prefix of the names of imported files


def bring(
    folder: Path,
    reporter: LookReporter,
    store: ReleaseStore | None = None,
    incoming: Path = request.INCOMING,
    os_release: Path = target.RELEASE,
    signers: Path = SIGNERS,
    free: Callable[[Path], int] = free_bytes,
) -> BoxSentence:
    """Copy the newest release and the newest system in `folder` itself, not in its subfolders.

    Returns the result as a sentence for the page. Raises ReleaseRefused for an archive that is
    unsigned, damaged, or for another machine; StorageError.
    """
    store = store or ReleaseStore()
    offers = request.offers(store, folder, os_release)
    newest = {_kind(offer).note: offer for offer in reversed(offers)}
    if not newest:
        return BoxSentence.of("page-look-stick-none")
    for offer in newest.values():
        reporter.fetches(offer.version)
        _bring(offer, incoming, signers, free)
    versions = ", ".join(sorted({offer.version for offer in newest.values()}))
    return BoxSentence.of("page-look-stick-brought", versions=versions)


def _kind(offer: UpdateOffer) -> UpdateKind:
    release = offer.file.suffix == RELEASE.suffix
    return request.RELEASES if release else request.SYSTEMS


def _bring(offer: UpdateOffer, incoming: Path, signers: Path, free: Callable[[Path], int]) -> None:
    kind = _kind(offer)
    suffix, most_bytes = kind.archive.suffix, kind.archive.most_bytes
    try:
        for old in (*incoming.glob(f"{BROUGHT}*{suffix}"), *incoming.glob(f".{BROUGHT}*.part")):
            with contextlib.suppress(OSError):  # another user's, in a sticky folder
                old.unlink()
        with HandedOverFile(offer.file, most_bytes) as source:
            manifest = kind.archive.open(source, signers).manifest
            fits(manifest, None, downgrade=False, now_s=time.time())  # offers() left older ones out
            check_space(source.size, free(incoming))
            part = incoming / f".{BROUGHT}{manifest.version}{suffix}.part"
            _copy(source, part)
        try:
            _verify(part, kind, signers, offer.file.name)
        except ReleaseRefused:
            part.unlink()
            raise
        part.rename(incoming / f"{BROUGHT}{manifest.version}{suffix}")
        sync_folder(incoming)
    except OSError as error:
        if isinstance(error, StorageError):
            raise
        why = error.strerror or ""
        shown = ShownAs.of("page-wrong-look-write", why=why)
        raise StorageError(f"{incoming} cannot be written ({why}).", shown=shown) from error


def _copy(source: HandedOverFile, part: Path) -> None:
    with open_new(part) as copy:
        for chunk in source.chunks(0, source.size):
            copy.write(chunk)
        copy.flush()
        os.fsync(copy.fileno())


def _verify(part: Path, kind: UpdateKind, signers: Path, name: str) -> None:
    """Raise ReleaseRefused unless every byte of the copy is the signed one."""
    with HandedOverFile(part, kind.archive.most_bytes) as copy:
        copy.name = name  # the name on the stick, for error messages
        if kind is request.RELEASES:
            ReleaseArchive(copy, signers).verify()
        else:
            SystemArchive(copy, signers).verify()
