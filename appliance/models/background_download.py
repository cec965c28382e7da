"""Downloads the awaited model in the background; the shipped one answers meanwhile.

Its name stands in /etc/interlude/model-wanted (root writes it, and takes it away when the unit's
fetch has ended well). It comes from the hub in the background, gone on with after every cut, or
from a USB stick, each byte checked. What the owner should know of it goes to
download_announcer.py, which also lets the box begin anew.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from appliance.atomic_file import sync_folder
from appliance.errors import FetchError, InterludeError, ModelBusy, ModelError, StorageError
from appliance.models import catalogue, parts
from appliance.models.catalogue import CatalogueModel, ModelFile, megabytes
from appliance.models.disk_space import (
    SPARE_BYTES,
    free_bytes,
    missing_bytes,
    parts_first,
    short_bytes,
)
from appliance.models.download_news import DownloadNews
from appliance.models.store import STANDS_IN, ModelStore, PinnedRevision, storage_errors

AGAIN_S = 600.0  # after a fetch that failed: the network is away, or the hub is
MOST_AGAIN_S = 3600.0  # for a card without room the pauses grow up to this
_CHUNK_BYTES = 1 << 20


@dataclass(frozen=True)
class BackgroundDownload:
    """Brings what is awaited. All that it touches beside the store is handed in.

    fetch    brings a model from the hub, or raises an InterludeError; what arrived is kept
    tell     what the owner should know of it
    sleep    for so many seconds
    """

    store: ModelStore
    fetch: Callable[[CatalogueModel], None]
    tell: Callable[[DownloadNews], None]
    sleep: Callable[[float], None]

    def run(self) -> bool:
        """Fetch until nothing is awaited any more. False if nothing was. Raises ModelError.

        A card that is full, or cannot be written, ends it no more than a network that is away: it
        is told, and tried again.
        """
        brought, pause_s = False, AGAIN_S
        begun = ""
        while (model := awaited(self.store)) is not None:
            if not model.repository:  # the stick's own service brings it meanwhile
                if model.name != begun:
                    self.tell(DownloadNews(model.name, "by_stick"))
                begun = model.name
                self.sleep(AGAIN_S)
                continue
            if model.name != begun:
                begun = model.name
                self.tell(DownloadNews(model.name, "fetching"))
            try:
                self.fetch(model)
            except ModelBusy:  # a stick brings it meanwhile, and that is told
                self.sleep(AGAIN_S)
            except FetchError as error:
                self._failed(DownloadNews(model.name, "away"), error, AGAIN_S)
            except StorageError as error:
                full = short_bytes(self.store, model) > 0
                self._failed(DownloadNews(model.name, "full" if full else "card"), error, pause_s)
                pause_s = min(2 * pause_s, MOST_AGAIN_S)
            else:
                brought = True
                self.tell(DownloadNews(model.name, "here"))
        return brought

    def copy_from_stick(self, stick: Path) -> bool:
        """The awaited model from a folder. False where none is awaited or it holds none of it.

        Raises FetchError for a part of it or other bytes, ModelError, StorageError; told, too.
        ModelBusy, while it is fetched: not told, since nothing is wrong with the stick.
        """
        model = awaited(self.store)
        if model is None:
            return False
        places, halves = on_stick(stick, model)
        if not places and not halves:
            return False
        rows = enumerate(model.files.values())
        lacks = tuple(number for number, file in rows if file.path not in places)
        if lacks:
            self.tell(DownloadNews(model.name, "part", lacks))
            remedy = "Copy it anew. A stick in FAT32 holds no file of 4 GiB."
            raise FetchError("The stick has only a part of my model.", remedy)
        try:
            copy(places, self.store, model, lambda: self.tell(DownloadNews(model.name, "found")))
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
    """The model that is to come; None if none is, or it is here. Raises ModelError."""
    name = store.wanted()
    if not name:
        return None
    model = catalogue.find(name, store.models)
    return None if store.state(model) in ("shipped", "installed") else model


def awaited_sentence(store: ModelStore) -> str:
    """How a model stands that is awaited, for its owner; "" if none is."""
    try:
        model = awaited(store)
    except ModelError as error:
        return f"{store.wish}: {error.problem}"
    if model is None:
        return ""
    short = short_bytes(store, model) if store.root.is_dir() else 0
    why = f": there is no room for it, {megabytes(short)} are missing" if short > 0 else ""
    return f"{model.name} is awaited{why}. Until it is here, {STANDS_IN} stands in for it."


def on_stick(stick: Path, model: CatalogueModel) -> tuple[dict[str, Path], list[str]]:
    """Where files of a model lie in a folder, by their paths in the catalogue; the names of those
    that lie there with another size. At the top, or where `interlude models` would put them."""
    found, halves = {}, []
    for file in model.files.values():
        for folder in (stick, stick / model.name, stick / "models" / model.name):
            path = folder / file.name
            if path.is_file():
                if file.size in (None, path.stat().st_size):
                    found[file.path] = path
                    break
                halves.append(file.name)
    return found, halves


def copy(
    places: dict[str, Path],
    store: ModelStore,
    model: CatalogueModel,
    begins: Callable[[], None] = lambda: None,
) -> None:
    """Into the store, whole or not at all. `begins`: called once nobody else is at it. Raises
    FetchError for wrong bytes, ModelBusy, StorageError, ModelError."""
    if any(file.sha256 is None for file in model.files.values()):
        raise ModelError(f"Nobody knows the checksums of {model.name}: it is taken from no stick.")
    with store.locked(model), storage_errors(store.root):
        begins()
        need = missing_bytes(store, model, {f.path: f.size or 0 for f in model.files.values()})
        if free_bytes(store.folder(model)) < need + SPARE_BYTES:
            raise StorageError(f"There is no room for {megabytes(need)} on the card.")
        store.forget_whole(model)
        made = {}
        for _, file in parts_first(model):
            partial = store.partial(model, file)
            with places[file.path].open("rb") as source, partial.open("wb") as target:
                digest = _copy(source, target, file.name)
            if digest != file.sha256:
                partial.unlink()
                raise FetchError(f"{file.name} on the stick is not the file it is called.")
            whole = store.source(model, file)
            partial.rename(whole)
            sync_folder(store.folder(model))
            if file.part is not None:
                part = parts.make(store, model, file, file.part, whole, parts.NoProgress())
                made[file.path] = part.entry(file)
        files = {file.path: _known(file) for file in model.files.values()}
        store.mark_complete(model, PinnedRevision(model.revision or "", files), made)


def _copy(source: IO[bytes], target: IO[bytes], name: str) -> str:
    """The SHA-256 of what was copied. Raises FetchError for a stick that was pulled out."""
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


def _known(file: ModelFile) -> ModelFile:
    return ModelFile(path=file.path, size=file.size, sha256=file.sha256)
