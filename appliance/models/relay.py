"""Relays models between boxes: reads ranges of their files on one box, writes them on another.

For administrators of many boxes: one box fetches, the others get the same bytes (ansible/roles/
models). Received data is not trusted: a file is put in place only if it has the catalogue's
SHA-256. Until then it is a partial download, which an ordinary fetch could resume.
"""

from __future__ import annotations

import base64
import os
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import msgspec

from appliance.atomic_file import sync_folder
from appliance.errors import FetchError, ModelError, StorageError
from appliance.models import catalogue
from appliance.models.catalogue import CatalogueModel, ModelFile, megabytes
from appliance.models.disk_space import parts_first, short_bytes
from appliance.models.model_disk import sha256_of, storage_errors
from appliance.models.placement import Placement
from appliance.models.store import ModelStore, State
from appliance.runtime.free_space import free_bytes

_CHUNK_BYTES = 3 << 18  # a multiple of three, so that the base64 of the chunks can be joined
_UNKNOWN = "Fetch it on the box itself: `interlude models fetch {}`."


class RelayedFile(msgspec.Struct, frozen=True):
    """A file of a model. `have`: bytes of it on this box, complete or partial."""

    name: str
    size: int | None
    sha256: str | None
    have: int


class RelayedModel(msgspec.Struct, frozen=True):
    """A model in the output of `interlude models list --json`. `short`: bytes of disk space that
    are missing for the rest of it."""

    name: str
    kind: str
    state: State
    licence: str
    licence_url: str
    short: int
    files: tuple[RelayedFile, ...]


class ModelListing(msgspec.Struct, frozen=True):
    """Every model of the catalogue. `awaited`: name of the awaited model, or ""."""

    models: tuple[RelayedModel, ...]
    awaited: str


def list_models(store: ModelStore) -> ModelListing:
    """List all models and how much of each is on this box."""
    models = []
    for row in store.models.values():
        model = store.pinned(row)
        files = tuple(
            RelayedFile(file.name, file.size, file.sha256, _bytes_present(store, model, file))
            for file in model.files.values()
        )
        short = short_bytes(store, model) if store.root.is_dir() else 0
        models.append(
            RelayedModel(model.name, model.kind, store.state(row), model.licence, model.licence_url,
                      short, files)
        )  # fmt: skip
    return ModelListing(tuple(models), store.wanted())


@dataclass(frozen=True)
class ModelRelay:
    """Reads and receives model files. `endpoint`: hub for files that are not on this box; None is
    the default. Tests replace `free_bytes` and `sleep`."""

    store: ModelStore
    endpoint: str | None = None
    free_bytes: Callable[[Path], int] = free_bytes
    sleep: Callable[[float], object] = time.sleep

    def give(self, name: str, file_name: str, at: int, most: int) -> Iterator[bytes]:
        """Yield at most `most` bytes of a file in base64, from offset `at` on, from this box's disk
        if it is installed, else from the hub. Raises ModelError, FetchError, StorageError."""
        model, file = self._find(name, file_name)
        path = self.store.path(model, file)  # of a part, the complete file is only on the hub
        is_local = self.store.state(model) == "installed" and file.part is None
        with closing(
            _read_local(path, at) if is_local else _read_remote(self.endpoint, model, file, at)
        ) as chunks:
            buffered, remaining = b"", most
            for chunk in chunks:
                buffered += chunk[:remaining]
                remaining -= len(chunk[:remaining])
                complete = len(buffered) // 3 * 3
                yield base64.b64encode(buffered[:complete])
                buffered = buffered[complete:]
                if not remaining:
                    break
            yield base64.b64encode(buffered)

    def receive(self, name: str, file_name: str, at: int, source: IO[bytes]) -> int:
        """Append the bytes of `source` to a partial file, which must be `at` bytes long. Returns
        its new length. Raises ModelError, FetchError, StorageError."""
        model, file = self._find(name, file_name)
        with self.store.locked(model), storage_errors(self.store.root):
            if self.store.state(model) == "installed":
                raise FetchError(f"{name} is here already.")
            present = _bytes_present(self.store, model, file)
            if present != at:
                raise FetchError(
                    f"{file_name} has {present} bytes here, not {at}.", "Continue at that position."
                )
            self._check_space(model)
            path, partial = self.store.source(model, file), self.store.partial(model, file)
            if at and path.is_file() and not partial.exists():
                path.rename(partial)  # the model is incomplete: `install` checks this file again
            with partial.open("ab" if at else "wb") as target:
                while data := source.read(_CHUNK_BYTES):
                    present += len(data)
                    if file.size is not None and present > file.size:
                        raise FetchError(
                            f"{file_name}: more than its {file.size} bytes were received."
                        )
                    target.write(data)
                target.flush()
                os.fsync(target.fileno())
        return present

    def install(self, name: str) -> None:
        """Verify a completely received model and put it in place. Raises ModelError, StorageError,
        and FetchError for a file that is incomplete or has a wrong checksum; the latter is
        deleted."""
        model, _ = self._find(name)
        with self.store.locked(model), storage_errors(self.store.root):
            if self.store.state(model) == "installed":
                return
            placement = Placement(self.store, model, sleep=self.sleep)
            for _, file in parts_first(model):
                if placement.has(file):
                    continue
                path, partial = self.store.source(model, file), self.store.partial(model, file)
                downloaded = partial if partial.is_file() else path
                if not downloaded.is_file() or file.size not in (None, downloaded.stat().st_size):
                    raise FetchError(f"{file.name} is incomplete.", "Resume its transfer.")
                if sha256_of(downloaded) != file.sha256:
                    downloaded.unlink()
                    problem = f"{file.name} is not the file it is called; it was deleted."
                    raise FetchError(problem, "Is where it came from damaged?")
                size = downloaded.stat().st_size
                downloaded.rename(path)
                sync_folder(path.parent)
                placement.place(msgspec.structs.replace(file, size=size), file.sha256)
            placement.complete(model.revision or "")

    def _find(self, name: str, file_name: str = "") -> tuple[CatalogueModel, ModelFile]:
        model = self.store.pinned(catalogue.find(name, self.store.models))
        if model.shipped:
            raise ModelError(f"{name} comes with the package: it need not be transferred.")
        if any(file.sha256 is None for file in model.files.values()):
            problem = f"The checksums of {name} are unknown: it cannot be transferred."
            raise ModelError(problem, _UNKNOWN.format(name))
        files = {file.name: file for file in model.files.values()}
        if file_name and file_name not in files:
            raise ModelError(f"{name} has no file {file_name}.", f"It has {', '.join(files)}.")
        return model, files[file_name or next(iter(files))]

    def _check_space(self, model: CatalogueModel) -> None:
        short = short_bytes(self.store, model, self.free_bytes)
        if short > 0:
            problem = f"There is no room for {model.name}: {megabytes(short)} are missing."
            raise StorageError(problem, "Make room on the data partition.")


def _bytes_present(store: ModelStore, model: CatalogueModel, file: ModelFile) -> int:
    """Bytes of a file on this box; 0 if there are more than its size, as they are not its own."""
    if store.path(model, file).is_file() and (file.part is not None or store.hands_over):
        return file.size or 0  # in place; of a part, the file counts as complete
    for path in (store.partial(model, file), store.source(model, file)):
        if path.is_file():
            size = path.stat().st_size
            return 0 if file.size is not None and size > file.size else size
    return 0


def _read_local(path: Path, at: int) -> Generator[bytes, None, None]:
    """Yield the bytes of a local file from offset `at` on."""
    with storage_errors(path.parent), path.open("rb") as file:
        file.seek(at)
        while data := file.read(_CHUNK_BYTES):
            yield data


def _read_remote(
    endpoint: str | None, model: CatalogueModel, file: ModelFile, at: int
) -> Generator[bytes, None, None]:
    """Yield the bytes of a file on the hub from offset `at` on. Raises FetchError."""
    from appliance.models.hub import (  # its library takes a second to import
        ConnectionCut,
        ModelHub,
        UnusableOffset,
    )

    assert model.repository is not None
    hub = ModelHub(endpoint)
    try:
        remote = hub.describe(model.repository, file.path, model.revision)
        if at >= remote.size:
            return
        with hub.bytes_from(remote, at) as (start, chunks):
            skip = at - start  # above 0 if the server cannot resume at `at`
            for chunk in chunks:
                yield chunk[skip:]
                skip = max(0, skip - len(chunk))
    except (ConnectionCut, UnusableOffset) as error:
        problem = f"{file.name}: {hub.where} cannot be reached ({error})."
        raise FetchError(problem, "What has arrived is kept: ask again.") from error
