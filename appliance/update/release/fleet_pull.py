"""Fetches the fleet's release from a web address and requests its installation.

For boxes that cannot be reached from outside (interlude-pull.timer). In: the address of a sheet,
JSON: `{"version": "0.2.0", "url": "…", "sha256": "…"}`; `url` may be relative to it. Out: the
complete archive in the incoming folder, and a request; the root process checks the archive's
signature. Runs as an unprivileged user. An interrupted download is resumed the next night.
"""

from __future__ import annotations

import hashlib
import os
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from typing import Annotated
from urllib.parse import urljoin, urlsplit

import msgspec

from appliance.atomic_file import sync_folder
from appliance.errors import FetchError, ReleaseRefused, ShownAs, StorageError
from appliance.language.catalogue import BoxSentence
from appliance.runtime.free_space import free_bytes
from appliance.update import request as wanted
from appliance.update.incoming_space import check_space
from appliance.update.partial_file import open_own
from appliance.update.release import fallback, rejected
from appliance.update.release.rejected import RejectedRelease
from appliance.update.release.store import ReleaseStore
from appliance.update.signed_manifest import version_key

SHEET_BYTES = 16 << 10
SILENT_S = 60.0  # timeout of a connection without data
_CHUNK_BYTES = 1 << 20
_AGAIN = "It is tried again the next night."


class FleetRelease(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The sheet: the release for the fleet. The pattern of `version` excludes paths; the version
    in the archive's manifest decides."""

    version: Annotated[str, msgspec.Meta(pattern=r"^[0-9][0-9A-Za-z.+-]{0,63}$")]
    url: Annotated[str, msgspec.Meta(min_length=1, max_length=2000)]
    sha256: Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")]


def pull(
    address: str,
    store: ReleaseStore | None = None,
    incoming: Path = wanted.INCOMING,
    free: Callable[[Path], int] = free_bytes,
    fetches: Callable[[str], None] = lambda version: None,
    now_s: Callable[[], float] = time.time,
) -> BoxSentence:
    """Fetch the release that the sheet at `address` names, if it is newer, and request it.

    Returns the result as a sentence for the page. `fetches`: called with the version before the
    download. Raises FetchError (network, invalid sheet, wrong checksum), StorageError.
    """
    store = store or ReleaseStore()
    sheet = _sheet(address)
    kept = store.floor()
    if kept is not None and version_key(sheet.version) <= version_key(kept):
        return BoxSentence.of("page-look-none", kept=kept, there=sheet.version)
    if sheet.version == fallback.left(store):
        return BoxSentence.of("page-look-left", version=sheet.version)
    archive = incoming / f"pulled-{sheet.version}.release"
    rejection = rejected.skipped(store.root, sheet.version, now_s())
    if rejection and not archive.is_file():  # no download only to compare the tree's checksum
        return _skipped(rejection)
    try:
        for old in (*incoming.glob("pulled-*.release"), *incoming.glob(".pulled-*.part")):
            if old not in (archive, _part(archive)):
                old.unlink()
        if not archive.is_file() or _sha256(archive) != sheet.sha256:
            fetches(sheet.version)
            _fetch(urljoin(address, sheet.url), sheet, archive, free)
    except OSError as error:
        if isinstance(error, (FetchError, StorageError)):
            raise
        why = error.strerror or ""
        shown = ShownAs.of("page-wrong-look-write", why=why)
        problem = f"{incoming} cannot be written ({why})."
        raise StorageError(problem, _AGAIN, shown=shown) from error
    for offer in wanted.offers(store, incoming):
        if offer.file == archive and offer.version == sheet.version:
            if rejection and rejection.is_tree_of(wanted.RELEASES.archive.peek(archive)):
                return _skipped(rejection)
            wanted.request_install(offer)
            return BoxSentence.of("page-look-asked", version=sheet.version)
    archive.unlink()
    shown = ShownAs.of("page-wrong-look-other", version=sheet.version)
    problem = f"What the sheet names is no release of version {sheet.version}."
    raise FetchError(problem, shown=shown)


def _skipped(release: RejectedRelease) -> BoxSentence:
    key = "page-look-failed" if release.why == "failed" else "page-look-returned"
    return BoxSentence.of(key, version=release.version)


def _part(archive: Path) -> Path:
    """The file of a partial download."""
    return archive.with_name(f".{archive.stem}.part")


def _sheet(address: str) -> FleetRelease:
    with _open(address, 0) as answer:
        data = answer.read(SHEET_BYTES + 1)
    shown = ShownAs.of("page-wrong-look-sheet", at=_where(address))
    if len(data) > SHEET_BYTES:
        raise FetchError(f"What {_where(address)} has is too long for a sheet.", shown=shown)
    try:
        sheet = msgspec.json.decode(data, type=FleetRelease)
        version_key(sheet.version)
    except (msgspec.DecodeError, ValueError, ReleaseRefused) as error:
        problem = f"What {_where(address)} has is no sheet ({error})."
        raise FetchError(problem, shown=shown) from error
    return sheet


def _fetch(address: str, sheet: FleetRelease, archive: Path, free: Callable[[Path], int]) -> None:
    """Download the archive, and rename it to `archive` once its checksum is right."""
    part = _part(archive)
    with open_own(part) as target:
        with _open(address, target.tell()) as answer:
            if answer.status != 206:  # not partial content: the server sends the whole file
                target.seek(0)
                target.truncate()
            total_bytes = target.tell() + _length(answer, address)
            check_space(total_bytes - target.tell(), free(archive.parent))
            while chunk := answer.read(_CHUNK_BYTES):
                if target.tell() + len(chunk) > wanted.RELEASES.archive.most_bytes:
                    target.truncate(0)
                    raise FetchError(
                        "The release is larger than a release may be.",
                        shown=ShownAs.of("page-wrong-look-large"),
                    )
                target.write(chunk)
        target.flush()
        os.fsync(target.fileno())
        if target.tell() < total_bytes:
            shown = ShownAs.of("page-wrong-look-cut", at=_where(address))
            remedy = f"What arrived is kept. {_AGAIN}"
            raise FetchError(f"{_where(address)} broke off the download.", remedy, shown=shown)
    if _sha256(part) != sheet.sha256:
        part.unlink()
        raise FetchError(
            "What arrived of the release has another checksum; it was deleted.",
            shown=ShownAs.of("page-wrong-look-checksum"),
        )
    part.rename(archive)
    sync_folder(archive.parent)


def _length(answer: HTTPResponse, address: str) -> int:
    """The length of an answer in bytes; 0 if the server does not tell it. Raises FetchError."""
    if answer.length is None and answer.headers.get("Content-Length"):
        shown = ShownAs.of("page-wrong-look-length", at=_where(address))
        problem = f"{_where(address)} gives a length that is no number."
        raise FetchError(problem, _AGAIN, shown=shown)
    return answer.length or 0


class _WebOnly(urllib.request.HTTPRedirectHandler):
    """Follows redirects to http and https addresses only."""

    def redirect_request(self, req, fp, code, msg, headers, newurl):  # type: ignore[no-untyped-def]
        _only_web(newurl)
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _only_web(address: str) -> None:
    if urlsplit(address).scheme not in ("https", "http"):
        raise FetchError(
            f"{_where(address)} is not a web address.",
            "https://… is one.",
            shown=ShownAs.of("page-wrong-look-address", at=_where(address)),
        )


@contextmanager
def _open(address: str, at: int) -> Iterator[HTTPResponse]:
    """Open an address, from byte `at` on if its server supports ranges. Raises FetchError."""
    _only_web(address)
    request = urllib.request.Request(address, headers={"Accept-Encoding": "identity"})  # noqa: S310
    if at:
        request.add_header("Range", f"bytes={at}-")
    try:
        with urllib.request.build_opener(_WebOnly).open(request, timeout=SILENT_S) as answer:
            yield answer
    except urllib.error.HTTPError as error:
        if at and error.code == 416:  # the partial file is complete, or of another archive
            with _open(address, 0) as answer:
                yield answer
            return
        shown = ShownAs.of("page-wrong-look-answer", at=_where(address), code=error.code)
        raise FetchError(
            f"{_where(address)} answered {error.code}.", _AGAIN, shown=shown
        ) from error
    except (urllib.error.URLError, HTTPException, TimeoutError, ConnectionError) as error:
        why = getattr(error, "reason", error)
        shown = ShownAs.of("page-wrong-look-reach", at=_where(address))
        problem = f"{_where(address)} cannot be reached ({why})."
        raise FetchError(problem, _AGAIN, shown=shown) from error


def _where(address: str) -> str:
    """The address for messages: without login and query."""
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.hostname or ''}{parts.path}"[:200]


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
