"""Puts the fetched files of one model in place: by itself, or on a box by handing them to root.

In: complete files in the folder that a fetch writes. Out: each file, or its audio part, in the
store, and the marker. On a box the user that fetches may not write the store: it leaves a note,
which a path unit of systemd watches, and waits until root's program (acceptance.py) has verified
the files and removed the note.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from appliance.atomic_file import write_whole
from appliance.errors import FetchError
from appliance.models import parts
from appliance.models.catalogue import CatalogueModel, Form, ModelFile
from appliance.models.model_disk import size_of, storage_errors
from appliance.models.parts import NoProgress, PartProgress
from appliance.models.store import ModelStore, PinnedRevision

READY = "ready.json"  # in .fetch/NAME/
LOOK_S = 0.5  # between two looks at the note
# Root reads a model once: 5 GB of a slow card take four minutes, at idle priority more.
PATIENCE_S = 3600.0


class ReadyNote(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A request to root: to take the complete files that are here, and to compare those in the
    store again. `form`: of an audio part, in place of the catalogue's."""

    form: Form | None = None


class Placement:
    """Places the files of one model. `form`: of its audio part, in place of the catalogue's."""

    def __init__(
        self,
        store: ModelStore,
        model: CatalogueModel,
        form: Form | None = None,
        progress: PartProgress | None = None,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        self._store, self._model, self._form = store, model, form
        self._progress, self._sleep = progress or NoProgress(), sleep
        self._files: dict[str, ModelFile] = {}  # complete, by their paths
        self._parts: dict[str, ModelFile] = {}
        if not store.hands_over:
            store.forget_whole(model)

    def has(self, file: ModelFile) -> bool:
        """Whether a file is in place: its part, or on a box also a file that root has verified.
        Elsewhere a fetch compares each file again."""
        if file.part is not None:
            part = parts.known(self._store, self._model, file, self._form or file.part)
            if part is not None:
                self._note(file, part.source)
                self._parts[file.path] = part.entry(file)
            return part is not None
        path, folder = self._store.path(self._model, file), self._store.folder(self._model)
        here = (
            self._store.hands_over
            and self._store.is_own(folder)
            and path.is_file()
            and file.size in (None, size_of(path))
        )
        if here:
            self._note(file, file.sha256)
        return here

    def needs_source(self, file: ModelFile) -> bool:
        """Whether the complete file is needed: its part cannot be made from a part in F16."""
        return file.part is None or self._finer(file) is None

    def place(self, file: ModelFile, sha256: str | None) -> None:
        """Place a file, which is complete and has that checksum. Raises ModelError for one without
        an audio part, StorageError, and FetchError if root does not accept it."""
        if self._store.hands_over:
            self.ask_root()
            if not self.has(file):
                raise FetchError(
                    f"{file.name} was not accepted.", "The journal of interlude-accept says why."
                )
            return
        self._note(file, sha256)
        if file.part is not None:
            source = self._finer(file) or self._store.source(self._model, file)
            named = msgspec.structs.replace(file, sha256=sha256)
            form = self._form or file.part
            part = parts.make(self._store, self._model, named, form, source, self._progress)
            self._parts[file.path] = part.entry(file)

    def complete(self, revision: str) -> None:
        """Mark the model as complete. Raises StorageError, and FetchError if root does not."""
        found = PinnedRevision(revision, self._files)
        if not self._store.hands_over:
            self._store.mark_complete(self._model, found, self._parts)
            return
        self._store.pin(self._model, found)
        if self._store.state(self._model) != "installed":
            self.ask_root()
        if self._store.state(self._model) != "installed":
            problem = f"{self._model.name} was not accepted."
            raise FetchError(problem, "The journal of interlude-accept says why; fetch it again.")

    def ask_root(self) -> None:
        """Ask root's program to accept and compare the files, and wait for it. Raises FetchError if
        it does not run, StorageError."""
        note = self._store.dropped(self._model) / READY
        with storage_errors(self._store.drop):
            note.parent.mkdir(exist_ok=True)
            write_whole(note, msgspec.json.encode(ReadyNote(self._form)))
        waited_s = 0.0
        while note.exists():
            if waited_s >= PATIENCE_S:
                raise FetchError(
                    f"{self._model.name} waits to be verified.",
                    "The fetched files are kept: see `systemctl status interlude-accept.path`.",
                )
            self._sleep(LOOK_S)
            waited_s += LOOK_S

    def _finer(self, file: ModelFile) -> Path | None:
        form = self._form or file.part
        return None if form is None else parts.finer(self._store, self._model, file, form)

    def _note(self, file: ModelFile, sha256: str | None) -> None:
        self._files[file.path] = ModelFile(path=file.path, size=file.size, sha256=sha256)
