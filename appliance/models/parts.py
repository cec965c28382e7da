"""Makes the audio part of a file of which the box keeps only that; once, and atomically.

In: a complete file whose checksum was compared. Out: the part in its place, `audio-part.json`
beside it with the checksums of the part and its source, and the complete file deleted. A later
fetch recognises the part by that record, so that nothing is downloaded twice.
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
from appliance.models.model_disk import sha256_of, storage_errors, write_durably
from appliance.models.store import ModelStore
from appliance.record_file import read_record


class PartProgress(Protocol):
    """Receives the progress of making a part."""

    def start(self, name: str, done: int, total: int) -> None: ...
    def advance(self, name: str, done: int) -> None: ...


class NoProgress:
    """A PartProgress that does nothing."""

    def start(self, name: str, done: int, total: int) -> None:
        return

    def advance(self, name: str, done: int) -> None:
        return


class MadePart(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A part: its form, size in bytes and SHA-256, and the SHA-256 of the complete file."""

    form: Form
    size: int
    sha256: str
    source: str

    def entry(self, file: ModelFile) -> ModelFile:
        """The entry for the model's marker."""
        return ModelFile(path=file.path, size=self.size, sha256=self.sha256, part=self.form)


def known(store: ModelStore, model: CatalogueModel, file: ModelFile, form: Form) -> MadePart | None:
    """The part in that form if it exists and has the recorded checksum, else None."""
    made = read_record(_record(store, model, file), MadePart)
    if made is None or (made.form, made.source) != (form, file.sha256):
        return None
    return made if _matches(store.path(model, file), made) else None


def finer(store: ModelStore, model: CatalogueModel, file: ModelFile, form: Form) -> Path | None:
    """Path of an existing part in F16 from which `form` can be made; None if there is none."""
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
    """Make the part of `source`, whose checksum was compared, and rename it into place.

    Raises ModelError for a source without such a part, StorageError for a disk that cannot be
    written or returns other bytes. An earlier part and the source are then kept.
    """
    from appliance.models import audio_part  # imports the gguf package, so only when it is needed

    path = store.path(model, file)
    partial = path.with_name(path.name + ".partial")
    with storage_errors(path.parent):
        step = _step_callback(progress, f"audio part of {file.name}", 2 * audio_part.size(source))
        try:
            audio_part.write_audio_part(source, partial, form, step)
            made = MadePart(form, partial.stat().st_size, sha256_of(partial), file.sha256 or "")
            _record(store, model, file).unlink(missing_ok=True)  # describes the previous part
            partial.replace(path)
            sync_folder(path.parent)
        except (ModelError, StorageError, OSError):
            with contextlib.suppress(OSError):
                partial.unlink(missing_ok=True)
            raise
        write_durably(_record(store, model, file), msgspec.json.encode(made))
        if source != path:  # not a part in F16, which the new one has replaced
            source.unlink(missing_ok=True)
        sync_folder(path.parent)
    return made


def record(
    store: ModelStore, model: CatalogueModel, file: ModelFile, form: Form, source: str
) -> MadePart:
    """Write the record of a part that is here already. Raises StorageError."""
    path = store.path(model, file)
    with storage_errors(path.parent):
        made = MadePart(form, path.stat().st_size, sha256_of(path), source)
        write_durably(_record(store, model, file), msgspec.json.encode(made))
    return made


def _record(store: ModelStore, model: CatalogueModel, file: ModelFile) -> Path:
    return store.path(model, file).with_suffix(".json")


def _matches(path: Path, made: MadePart) -> bool:
    try:
        return path.stat().st_size == made.size and sha256_of(path) == made.sha256
    except OSError:
        return False


def _step_callback(progress: PartProgress, name: str, total: int) -> Callable[[int], None]:
    """Return a callback that adds up the bytes of each step and reports the sum."""
    so_far = 0
    progress.start(name, 0, total)

    def step(done: int) -> None:
        nonlocal so_far
        so_far += done
        progress.advance(name, so_far)

    return step
