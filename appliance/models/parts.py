"""Files of which a box keeps only a part: made here, once, whole or not at all.

In: a whole file, its checksum already compared. Out: the part in its place, `audio-part.json`
beside it with what it is and what it was made of, and the whole file gone. What was made is known
again by that, so that nothing is fetched twice.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import msgspec

from appliance.atomic_file import sync_folder
from appliance.errors import ModelError, StorageError
from appliance.models.catalogue import CatalogueModel, Form, ModelFile
from appliance.models.store import ModelStore, sha256_of, storage_errors, write_durably
from appliance.record_file import read_record


class PartProgress(Protocol):
    """Told how far the making of a part is."""

    def start(self, name: str, done: int, total: int) -> None: ...
    def advance(self, name: str, done: int) -> None: ...


class NoProgress:
    """A Progress of which nobody is told."""

    def start(self, name: str, done: int, total: int) -> None:
        return

    def advance(self, name: str, done: int) -> None:
        return


class MadePart(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A part: its form, size in bytes and SHA-256, and the SHA-256 of the whole file."""

    form: Form
    size: int
    sha256: str
    source: str

    def entry(self, file: ModelFile) -> ModelFile:
        """For the marker of the model."""
        return ModelFile(path=file.path, size=self.size, sha256=self.sha256, part=self.form)


def known(store: ModelStore, model: CatalogueModel, file: ModelFile, form: Form) -> MadePart | None:
    """The part in that form, if it is here and every byte of it is as it was made; else None."""
    made = read_record(_record(store, model, file), MadePart)
    if made is None or (made.form, made.source) != (form, file.sha256):
        return None
    return made if _is(store.path(model, file), made) else None


def finer(store: ModelStore, model: CatalogueModel, file: ModelFile, form: Form) -> Path | None:
    """A part that is here in F16, of which the one in `form` can be made; None if there is none."""
    if form == "f16" or known(store, model, file, "f16") is None:
        return None
    return store.path(model, file)


def make(
    store: ModelStore,
    model: CatalogueModel,
    file: ModelFile,
    form: Form,
    source: Path,
    progress: PartProgress,
) -> MadePart:
    """Put the part of `source`, whose checksum was compared, in its place.

    Raises ModelError for a source that has no such part, StorageError for a disk that refuses or
    keeps something else. What was there before stays, then, and so does the source.
    """
    from appliance.models import audio_part  # and with it the gguf package: only where it is needed

    path = store.path(model, file)
    fresh = path.with_name(path.name + ".partial")
    with storage_errors(path.parent):
        step = _steps(progress, f"audio part of {file.name}", 2 * audio_part.size(source))
        try:
            audio_part.write_audio_part(source, fresh, form, step)
            made = MadePart(form, fresh.stat().st_size, sha256_of(fresh), file.sha256 or "")
            _record(store, model, file).unlink(missing_ok=True)  # it speaks of what was there
            fresh.replace(path)
            sync_folder(path.parent)
        except (ModelError, StorageError, OSError):
            with contextlib.suppress(OSError):
                fresh.unlink(missing_ok=True)
            raise
        write_durably(_record(store, model, file), msgspec.json.encode(made))
        store.source(model, file).unlink(missing_ok=True)
        sync_folder(path.parent)
    return made


def _record(store: ModelStore, model: CatalogueModel, file: ModelFile) -> Path:
    return store.path(model, file).with_suffix(".json")


def _is(path: Path, made: MadePart) -> bool:
    try:
        return path.stat().st_size == made.size and sha256_of(path) == made.sha256
    except OSError:
        return False


def _steps(progress: PartProgress, name: str, total: int) -> Callable[[int], None]:
    """Tells the progress of each step that is `done` bytes long."""
    so_far = 0
    progress.start(name, 0, total)

    def step(done: int) -> None:
        nonlocal so_far
        so_far += done
        progress.advance(name, so_far)

    return step
