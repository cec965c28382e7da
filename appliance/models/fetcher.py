"""Fetches a model from the hub: checks the disk space, resumes, verifies, installs atomically.

Files of which only a part is kept come first: the part is made and the complete file deleted before
the next download. A lock allows one fetch of a model at a time.

In: a model of the catalogue. Out: its files in the store, and the marker that it is complete.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import msgspec

from appliance.atomic_file import sync_folder
from appliance.errors import FetchError, StorageError
from appliance.models.catalogue import CatalogueModel, Form, ModelFile, megabytes
from appliance.models.disk_space import missing_bytes, parts_first
from appliance.models.hub import ConnectionCut, HubFile, ModelHub, UnusableOffset
from appliance.models.model_disk import storage_errors
from appliance.models.placement import Placement
from appliance.models.store import ModelStore
from appliance.runtime.free_space import SPARE_BYTES, free_bytes, lacking_bytes

ATTEMPTS = 5  # consecutive attempts without a new byte; then the fetch ends with an error
_CHUNK_BYTES = 1 << 20


class FetchProgress(Protocol):
    """Receives the progress of each file, by its name."""

    def start(self, name: str, done: int, total: int) -> None: ...
    def advance(self, name: str, done: int) -> None: ...
    def report_problem(self, name: str, problem: str, wait_s: float) -> None: ...


@dataclass(frozen=True)
class ModelFetcher:
    """Fetches models from a hub into a store. Tests replace `free_bytes` and `sleep`."""

    store: ModelStore
    hub: ModelHub
    progress: FetchProgress
    free_bytes: Callable[[Path], int] = free_bytes
    sleep: Callable[[float], Any] = time.sleep

    def fetch(self, model: CatalogueModel, form: Form | None = None) -> None:
        """Fetch the missing files of `model`, resuming an earlier fetch.

        `form`: of an encoder's audio part, in place of the catalogue's. Raises FetchError (network,
        wrong checksum, ModelBusy), ModelError (no audio part) or StorageError (no space, no
        permission). After an error or KeyboardInterrupt the fetch can be resumed.
        """
        if model.shipped:
            raise FetchError(f"{model.name} comes with the package: there is nothing to fetch.")
        if not model.repository:
            problem = f"{model.name} is your own model, and its row names no repository."
            raise FetchError(problem, "Plug in a USB stick that has its files.")
        with self.store.locked(model):
            model = self.store.pinned(model)
            found = self._describe(model)
            self._check_space(model, found)
            placement = Placement(self.store, model, form, self.progress, self.sleep)
            for role, row in parts_first(model):
                remote = found[role]
                sha256 = row.sha256 or remote.sha256
                file = msgspec.structs.replace(row, size=remote.size, sha256=sha256)
                if not placement.has(file):
                    if placement.needs_source(file):
                        sha256 = self._fetch_file(model, file, remote)
                    placement.place(file, sha256)
            placement.complete(next(iter(found.values())).revision)

    def _describe(self, model: CatalogueModel) -> dict[str, HubFile]:
        """Describe every file on the hub, all of one revision; check size and SHA-256."""
        assert model.repository is not None
        revision = model.revision
        found = {}
        for role, file in model.files.items():
            remote = self._metadata(file.name, model.repository, file.path, revision)
            revision = remote.revision
            for what, pinned, actual in (
                ("size", file.size, remote.size),
                ("SHA-256", file.sha256, remote.sha256 or file.sha256),
            ):
                if pinned is not None and pinned != actual:
                    raise FetchError(
                        f"{file.path}: the hub has a file of {what} {actual} instead of {pinned}.",
                        "Nothing was fetched. It may have been replaced: see the release notes.",
                    )
            found[role] = remote
        return found

    def _metadata(self, name: str, repository: str, path: str, revision: str | None) -> HubFile:
        for attempt in range(1, ATTEMPTS + 1):
            try:
                return self.hub.describe(repository, path, revision)
            except ConnectionCut as cut:
                self._pause(name, cut, attempt)
        raise AssertionError("the last attempt raises")

    def _pause(self, name: str, cut: ConnectionCut, attempt: int) -> None:
        """Wait before the next attempt. Raises FetchError after the last one."""
        if attempt >= ATTEMPTS:
            raise FetchError(
                f"{name}: {self.hub.where} cannot be reached ({cut}).",
                "What has arrived is kept: fetch again to go on.",
            ) from cut
        wait_s = float(2 ** (attempt - 1))
        self.progress.report_problem(name, str(cut), wait_s)
        self.sleep(wait_s)

    def _check_space(self, model: CatalogueModel, found: dict[str, HubFile]) -> None:
        """Raise StorageError, with the missing amount, if the rest does not fit on the disk."""
        sizes = {model.files[role].path: remote.size for role, remote in found.items()}
        missing = missing_bytes(self.store, model, sizes)
        if not missing:
            return
        if short := lacking_bytes(missing, self.free_bytes(self.store.drop)):
            raise StorageError(
                f"{model.name} needs {megabytes(missing)} more on the disk of {self.store.root}, "
                f"and {megabytes(SPARE_BYTES)} stay free; {megabytes(short)} are missing.",
                "Make room, or set `state_dir` to another disk.",
            )

    def _fetch_file(self, model: CatalogueModel, file: ModelFile, remote: HubFile) -> str:
        """Fetch one file, verify it and rename it into place. Returns its SHA-256."""
        path, partial = self.store.source(model, file), self.store.partial(model, file)
        expected = file.sha256 or remote.sha256
        with storage_errors(path.parent):
            if path.is_file() and not partial.exists():
                path.rename(partial)  # from an earlier fetch: verified like a partial download
            resumed = _size(partial)
            digest = self._download(file.name, remote, partial)
            if resumed and expected not in (None, digest):
                self.progress.report_problem(file.name, "the earlier download is damaged", 0.0)
                partial.unlink()
                digest = self._download(file.name, remote, partial)
            if expected is not None and digest != expected:
                partial.unlink()
                raise FetchError(
                    f"{file.path}: what arrived has SHA-256 {digest} instead of {expected}.",
                    "It was deleted. Fetch again; if it stays so, do not trust the source.",
                )
            partial.rename(path)
            sync_folder(path.parent)
        return digest

    def _download(self, name: str, remote: HubFile, partial: Path) -> str:
        """Append to `partial` until it is as long as the remote file, and flush it to the disk."""
        with partial.open("ab+") as target:
            partial_file = _PartialFile(target, self.progress, name)
            self.progress.start(name, _size(partial), remote.size)
            partial_file.hash_existing(remote.size)
            attempt = 0
            while partial_file.size < remote.size:
                before = partial_file.size
                try:
                    self._stream(remote, partial_file)
                except UnusableOffset:
                    partial_file.start_over()
                    attempt += 1
                    self._pause(
                        name, ConnectionCut("the server cannot resume the download"), attempt
                    )
                except ConnectionCut as cut:
                    attempt = 1 if partial_file.size > before else attempt + 1
                    self._pause(name, cut, attempt)
            target.flush()
            os.fsync(target.fileno())
        return partial_file.digest

    def _stream(self, remote: HubFile, partial: _PartialFile) -> None:
        with self.hub.bytes_from(remote, partial.size) as (start, chunks):
            if start != partial.size:
                partial.start_over()
            for chunk in chunks:
                if partial.size + len(chunk) > remote.size:
                    partial.start_over()
                    raise FetchError(
                        f"{partial.name}: the server sent more than the {remote.size} bytes it "
                        "promised.",
                        "What arrived was deleted.",
                    )
                partial.write(chunk)
        if partial.size < remote.size:
            raise ConnectionCut("the connection ended early")


class _PartialFile:
    """The downloaded part of a file: its bytes on disk, its size and running SHA-256."""

    def __init__(self, target: Any, progress: FetchProgress, name: str) -> None:
        self._target = target
        self._progress = progress
        self._hash = hashlib.sha256()
        self.name = name
        self.size = 0

    @property
    def digest(self) -> str:
        return self._hash.hexdigest()

    def hash_existing(self, limit: int) -> None:
        """Hash the bytes of an earlier fetch; if there are more than `limit`, discard them."""
        self._target.seek(0)
        while data := self._target.read(_CHUNK_BYTES):
            self._hash.update(data)
            self.size += len(data)
        if self.size > limit:
            self.start_over()

    def write(self, data: bytes) -> None:
        self._target.write(data)
        self._hash.update(data)
        self.size += len(data)
        self._progress.advance(self.name, self.size)

    def start_over(self) -> None:
        self._target.truncate(0)
        self._hash = hashlib.sha256()
        self.size = 0
        self._progress.advance(self.name, 0)


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0
