"""Downloads the awaited model in the background; the shipped one answers meanwhile.

/etc/interlude/model-wanted contains its name (root writes the file, and removes it when the unit's
fetch has succeeded). The files come from the hub, with the download resumed after every broken
connection, or from a USB stick; all checksums are compared. News for the owner goes to
download_announcer.py, which also restarts the box.
"""

from __future__ import annotations

import hashlib
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from appliance.atomic_file import sync_folder
from appliance.errors import FetchError, InterludeError, ModelBusy, ModelError, StorageError
from appliance.models import catalogue
from appliance.models.catalogue import CatalogueModel, megabytes
from appliance.models.disk_space import missing_bytes, parts_first, short_bytes
from appliance.models.download_news import DownloadNews
from appliance.models.model_disk import storage_errors
from appliance.models.placement import Placement
from appliance.models.store import STANDS_IN, ModelStore
from appliance.runtime.free_space import free_bytes, lacking_bytes

AGAIN_S = 600.0  # retry delay after a fetch that failed because the network or the hub is away
MOST_AGAIN_S = 3600.0  # longest retry delay while the SD card is full or cannot be written
_CHUNK_BYTES = 1 << 20


@dataclass(frozen=True)
class BackgroundDownload:
    """Fetches the awaited model. Everything that it uses besides the store is passed in.

    fetch    fetches a model from the hub, or raises an InterludeError; received bytes are kept
    tell     passes on news for the owner
    sleep    sleeps for so many seconds
    """

    store: ModelStore
    fetch: Callable[[CatalogueModel], None]
    tell: Callable[[DownloadNews], None]
    sleep: Callable[[float], None]

    def run(self) -> bool:
        """Fetch until no model is awaited. Returns whether one was fetched. Raises ModelError.

        Neither a network that is away nor an SD card that is full or cannot be written ends it: the
        failure is reported and the fetch retried.
        """
        fetched, pause_s = False, AGAIN_S
        announced = ""
        while (model := awaited(self.store)) is not None:
            if not model.repository:  # the service for USB sticks copies it
                if model.name != announced:
                    self.tell(DownloadNews(model.name, "by_stick"))
                announced = model.name
                self.sleep(AGAIN_S)
                continue
            if model.name != announced:
                announced = model.name
                self.tell(DownloadNews(model.name, "fetching"))
            try:
                self.fetch(model)
            except ModelBusy:  # it is being copied from a stick, which has been announced
                self.sleep(AGAIN_S)
            except FetchError as error:
                self._failed(DownloadNews(model.name, "away"), error, AGAIN_S)
            except StorageError as error:
                full = short_bytes(self.store, model) > 0
                self._failed(DownloadNews(model.name, "full" if full else "card"), error, pause_s)
                pause_s = min(2 * pause_s, MOST_AGAIN_S)
            else:
                fetched = True
                self.tell(DownloadNews(model.name, "here"))
        return fetched

    def copy_from_stick(self, stick: Path) -> bool:
        """Copy the awaited model from a folder. False if none is awaited or the folder has no file
        of it.

        Raises FetchError for an incomplete set of files or wrong checksums, ModelError and
        StorageError; these are also announced. Raises ModelBusy while the model is being fetched;
        that is not announced, since nothing is wrong with the stick.
        """
        model = awaited(self.store)
        if model is None:
            return False
        sources, wrong_sizes = on_stick(stick, model)
        if not sources and not wrong_sizes:
            return False
        rows = enumerate(model.files.values())
        missing = tuple(number for number, file in rows if file.path not in sources)
        if missing:
            self.tell(DownloadNews(model.name, "part", missing))
            remedy = "Copy it again. A stick in FAT32 holds no file of 4 GiB."
            raise FetchError("The stick has only a part of my model.", remedy)
        try:
            found = DownloadNews(model.name, "found")
            copy(sources, self.store, model, lambda: self.tell(found), self.sleep)
        except ModelBusy:
            raise
        except StorageError:
            full = short_bytes(self.store, model) > 0
            self.tell(DownloadNews(model.name, "full" if full else "card"))
            raise
        except InterludeError:
            self.tell(DownloadNews(model.name, "bad"))
            raise
        self.tell(DownloadNews(model.name, "here"))
        return True

    def _failed(self, news: DownloadNews, error: InterludeError, pause_s: float) -> None:
        print(f"{news.model}: {error} Again in {pause_s:.0f} s.", file=sys.stderr, flush=True)
        self.tell(news)
        self.sleep(pause_s)


def awaited(store: ModelStore) -> CatalogueModel | None:
    """The model that is still to be fetched, or None. Raises ModelError for an unknown name."""
    name = store.wanted()
    if not name:
        return None
    model = catalogue.find(name, store.models)
    return None if store.state(model) in ("shipped", "installed") else model


def awaited_sentence(store: ModelStore) -> str:
    """A sentence for the owner about the awaited model; "" if none is awaited."""
    try:
        model = awaited(store)
    except ModelError as error:
        return f"{store.request_file}: {error.problem}"
    if model is None:
        return ""
    short = short_bytes(store, model) if store.root.is_dir() else 0
    reason = f": there is no room for it, {megabytes(short)} are missing" if short > 0 else ""
    return f"{model.name} is awaited{reason}. Until it is here, {STANDS_IN} stands in for it."


def on_stick(stick: Path, model: CatalogueModel) -> tuple[dict[str, Path], list[str]]:
    """Find the files of a model on a stick. Returns the places by path in the catalogue, and the
    names of files with a wrong size. Searches the top folder, NAME/ and models/NAME/."""
    sources, wrong_sizes = {}, []
    for file in model.files.values():
        for folder in (stick, stick / model.name, stick / "models" / model.name):
            path = folder / file.name
            if path.is_file():
                if file.size in (None, path.stat().st_size):
                    sources[file.path] = path
                    break
                wrong_sizes.append(file.name)
    return sources, wrong_sizes


def copy(
    sources: dict[str, Path],
    store: ModelStore,
    model: CatalogueModel,
    on_start: Callable[[], None] = lambda: None,
    sleep: Callable[[float], object] = time.sleep,
) -> None:
    """Copy a model into the store, completely or not at all. `on_start`: called once the model's
    lock is held. Raises FetchError for a wrong checksum, ModelBusy, StorageError, ModelError."""
    if any(file.sha256 is None for file in model.files.values()):
        raise ModelError(
            f"The checksums of {model.name} are unknown: it cannot be copied from a stick."
        )
    with store.locked(model), storage_errors(store.root):
        on_start()
        needed = missing_bytes(store, model, {f.path: f.size or 0 for f in model.files.values()})
        if lacking_bytes(needed, free_bytes(store.drop)):
            raise StorageError(f"There is no room for {megabytes(needed)} on the card.")
        placement = Placement(store, model, sleep=sleep)
        for _, file in parts_first(model):
            if placement.has(file):
                continue
            partial = store.partial(model, file)
            with sources[file.path].open("rb") as source, partial.open("wb") as target:
                digest = _copy(source, target, file.name)
            if digest != file.sha256:
                partial.unlink()
                raise FetchError(f"{file.name} on the stick is not the file it is called.")
            complete = store.source(model, file)
            partial.rename(complete)
            sync_folder(complete.parent)
            placement.place(file, digest)
        placement.complete(model.revision or "")


def _copy(source: IO[bytes], target: IO[bytes], name: str) -> str:
    """Copy and return the SHA-256. Raises FetchError if the stick was pulled out."""
    digest = hashlib.sha256()
    while data := _read(source, name):
        digest.update(data)
        target.write(data)
    target.flush()
    os.fsync(target.fileno())
    return digest.hexdigest()


def _read(source: IO[bytes], name: str) -> bytes:
    try:
        return source.read(_CHUNK_BYTES)
    except OSError as error:
        problem = f"{name} on the stick cannot be read ({error.strerror})."
        raise FetchError(
            problem, "Leave it in until the box says that it has its model."
        ) from error
