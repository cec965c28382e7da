"""The model that a box is to have and has not yet: until it is here, the shipped one stands in.

Its name stands in /etc/interlude/model-wanted (root writes it, and takes it away when the unit's
fetch has ended well). It comes from the hub in the background, gone on with after every cut, or
from a USB stick, each byte checked. Then the box is told to begin anew, once nobody talks with it.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from appliance.errors import FetchError, InterludeError, ModelError, StorageError
from appliance.files import sync_folder
from appliance.models import catalogue
from appliance.models.catalogue import Model, ModelFile
from appliance.models.fetch import SPARE_BYTES, free_bytes, megabytes
from appliance.models.store import Pin, Store, storage_errors

AGAIN_S = 600.0  # after a fetch that failed: the network is away, or the hub is
QUIET_LOOK_S = 2.0
_CHUNK_BYTES = 1 << 20

Says = Callable[[str], None]  # a sentence, aloud


@dataclass(frozen=True)
class Errand:
    """Brings what is awaited. All that it touches beside the store is handed in.

    fetch    brings a model from the hub, or raises an InterludeError; what arrived is kept
    says     a sentence aloud; a box that is not there is no reason to stop
    talking  whether somebody talks with the box
    restart  lets the box begin anew, with what is here then
    sleep    for so many seconds
    """

    store: Store
    fetch: Callable[[Model], None]
    says: Says
    talking: Callable[[], bool]
    restart: Callable[[], None]
    sleep: Callable[[float], None]

    def run(self) -> bool:
        """Fetch until it is here. False if nothing was awaited. Raises ModelError, StorageError."""
        model = awaited(self.store)
        if model is None:
            return False
        size = megabytes(model.size or 0)
        self.says(f"I am fetching my large model, {size}. Until it is here I know only a little.")
        told = False
        while True:
            try:
                self.fetch(model)
                break
            except FetchError as error:
                if not told:  # once: a box that complains every ten minutes is no company
                    told = True
                    self.says(f"I cannot fetch my model now. {error.problem} I will try again.")
                self.sleep(AGAIN_S)
        self.arrived(model)
        return True

    def take(self, stick: Path) -> bool:
        """The awaited model from a folder. False where none is awaited or it holds none of it.

        Raises FetchError for a part of it or other bytes, ModelError, StorageError; said aloud too.
        """
        model = awaited(self.store)
        if model is None:
            return False
        places, halves = on_stick(stick, model)
        if not places and not halves:
            return False
        lacks = [file.name for file in model.files.values() if file.path not in places]
        if lacks:
            problem = f"The stick has only a part of my model. {' and '.join(lacks)}"
            problem += " are not all there." if len(lacks) > 1 else " is not all there."
            self.says(problem)
            raise FetchError(problem, "Copy it anew. A stick in FAT32 holds no file of 4 GiB.")
        self.says("I have found my model on the stick. Leave it in while I copy it.")
        try:
            copy(places, self.store, model)
        except InterludeError as error:
            self.says(f"The model on the stick cannot be used. {error.problem}")
            raise
        self.arrived(model)
        return True

    def arrived(self, model: Model) -> None:
        """Say so and begin anew with it, once nobody talks."""
        self.says("My large model is here. I begin anew with it; give me a minute.")
        while self.talking():
            self.sleep(QUIET_LOOK_S)
        self.restart()


def awaited(store: Store) -> Model | None:
    """The model that is to come; None if none is, or it is here. Raises ModelError."""
    name = store.wanted()
    if not name:
        return None
    model = catalogue.find(name, store.models)
    return None if store.state(model) in ("shipped", "installed") else model


def on_stick(stick: Path, model: Model) -> tuple[dict[str, Path], list[str]]:
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


def copy(places: dict[str, Path], store: Store, model: Model) -> None:
    """Into the store, whole or not at all. Raises FetchError for wrong bytes, StorageError."""
    if any(file.sha256 is None for file in model.files.values()):
        raise ModelError(f"Nobody knows the checksums of {model.name}: it is taken from no stick.")
    with store.locked(model), storage_errors(store.root):
        need = sum(file.size or 0 for file in model.files.values())
        if free_bytes(store.folder(model)) < need + SPARE_BYTES:
            raise StorageError(f"There is no room for {megabytes(need)} on the card.")
        store.forget_whole(model)
        for file in model.files.values():
            partial = store.partial(model, file)
            with places[file.path].open("rb") as source, partial.open("wb") as target:
                digest = _copy(source, target, file.name)
            if digest != file.sha256:
                partial.unlink()
                raise FetchError(f"{file.name} on the stick is not the file it is called.")
            partial.rename(store.path(model, file))
            sync_folder(store.folder(model))
        files = {file.path: _known(file) for file in model.files.values()}
        store.finish(model, Pin(model.revision or "", files))


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
