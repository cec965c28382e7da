"""A codec's files, converted once from a fetched model and cached beside it.

codec-DIGEST.onnx, .data   graph and constants
codec-DIGEST.json          its manifest (voice/head/manifest.py)
codec-DIGEST.made.json     the checksums of these three; written last

DIGEST is computed from everything that determines their content: the fetched file, the form and
VERSION. Damaged files are made again.
"""

from __future__ import annotations

import contextlib
import hashlib
from pathlib import Path

import msgspec

from appliance.atomic_file import sync_folder, write_whole
from appliance.errors import ModelError, StorageError
from appliance.models import catalogue
from appliance.models.catalogue import CatalogueModel, megabytes
from appliance.models.model_disk import sha256_of, storage_errors
from appliance.models.onnx_graph.graph import Form
from appliance.models.store import ModelStore
from appliance.record_file import read_record
from appliance.runtime.free_space import SPARE_BYTES, free_bytes, lacking_bytes

VERSION = 1  # of the graph; raise it with every change of the generated files
KIND = "codec"
_STEM = "codec-"
_ENDS = (".onnx", ".data", ".json")
_RECORD = ".made.json"


class MadeCodec(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """SHA-256 of each file by the end of its name, and, as information, the name of the source."""

    files: dict[str, str]
    weights: str


def made(store: ModelStore, name: str, form: Form = "fp32") -> Path | None:
    """Return the manifest of that codec if its files are here and have their checksums, else None.

    Raises ModelError for a model that is no codec, or not on this box.
    """
    model = _fetched(store, name)
    return _if_complete(_stem(store, model, form))


def prepare(store: ModelStore, name: str, form: Form = "fp32") -> Path:
    """Return the manifest of that codec; make the files if they are missing, which takes about 15 s
    for Mimi.

    `form`: number format of its transformer's matrices; the sound with 8 bits has not been judged.
    Raises ModelError for a model that is no codec, is not on this box or has unexpected content,
    StorageError for a disk that is full or cannot be written.
    """
    model = _fetched(store, name)
    stem = _stem(store, model, form)
    if (found := _if_complete(stem)) is not None:
        return found
    from appliance.models.mimi_graph.make import make

    weights = store.path(model, model.files["weights"])
    manifest = _path(stem, ".json")
    with storage_errors(stem.parent):
        _delete(stem)
        _check_room(weights, stem.parent)
        try:
            make(weights, manifest, form)
            sums = {end: sha256_of(_path(stem, end)) for end in _ENDS}
            record = msgspec.json.encode(MadeCodec(sums, weights.name))
            write_whole(_path(stem, _RECORD), record)
            sync_folder(stem.parent)
        except BaseException:
            _delete(stem)
            raise
    return manifest


def _fetched(store: ModelStore, name: str) -> CatalogueModel:
    model = catalogue.find(name, store.models)
    if model.kind != KIND:
        codecs = ", ".join(n for n, m in store.models.items() if m.kind == KIND)
        raise ModelError(f"{name} is no codec.", f"There are {codecs}.")
    if store.state(model) != "installed":
        remedy = f"Get it with `interlude models fetch {name}`."
        raise ModelError(f"The codec {name} is not on this box.", remedy)
    return model


def _stem(store: ModelStore, model: CatalogueModel, form: Form) -> Path:
    found = store.whole(model)
    weights = model.files["weights"]
    sha256 = weights.sha256 if found is None else found.files[weights.path].sha256
    digest = hashlib.sha256(f"{VERSION} {form} {sha256}".encode()).hexdigest()[:16]
    return store.folder(model) / (_STEM + digest)


def _path(stem: Path, end: str) -> Path:
    return stem.with_name(stem.name + end)


def _if_complete(stem: Path) -> Path | None:
    record = read_record(_path(stem, _RECORD), MadeCodec)
    if record is None or set(record.files) != set(_ENDS):
        return None
    try:
        same = all(sha256_of(_path(stem, end)) == record.files[end] for end in _ENDS)
    except OSError:
        return None
    return _path(stem, ".json") if same else None


def _delete(stem: Path) -> None:
    """Delete damaged or incomplete files."""
    for end in (_RECORD, *_ENDS):
        with contextlib.suppress(OSError):
            _path(stem, end).unlink()


def _check_room(weights: Path, folder: Path) -> None:
    """Raise StorageError if there is too little space. The size of the source is an upper bound,
    since it also contains an encoder."""
    wanted, free = weights.stat().st_size, free_bytes(folder)
    if lacking_bytes(wanted, free):
        raise StorageError(
            f"The codec made of {weights.name} takes up to {megabytes(wanted)} on the disk of "
            f"{folder}, and {megabytes(max(free - SPARE_BYTES, 1))} may be written.",
            "Make room, or set `state_dir` to another disk.",
        )
