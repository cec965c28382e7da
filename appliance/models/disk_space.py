"""Disk space for models."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from appliance.models.catalogue import CatalogueModel, ModelFile
from appliance.models.model_disk import size_of
from appliance.models.store import ModelStore
from appliance.runtime.free_space import free_bytes, lacking_bytes


def parts_first(model: CatalogueModel) -> list[tuple[str, ModelFile]]:
    """The files of a model by role; those of which only a part is kept come first."""
    return sorted(model.files.items(), key=lambda item: item[1].part is None)


def missing_bytes(store: ModelStore, model: CatalogueModel, sizes: Mapping[str, int]) -> int:
    """Peak of the additional disk space while the rest of `model` is fetched.

    `sizes`: bytes of each file by its path. A part, which is no larger than its complete file,
    exists beside it for a while; the complete file is deleted before the other files are fetched.
    """
    complete = part = ordinary = 0
    for file in model.files.values():
        size = sizes.get(file.path, 0)
        present = store.present(model, file)
        if file.part is None:
            ordinary += max(0, size - present)
        elif not size_of(store.path(model, file)):
            complete += max(0, size - present)
            part = max(part, size)
    return complete + max(part, ordinary)


def short_bytes(
    store: ModelStore, model: CatalogueModel, free: Callable[[Path], int] = free_bytes
) -> int:
    """Bytes of disk space that are missing to fetch the rest of `model`; 0 if it fits.

    Files whose size is not in the catalogue count as 0.
    """
    sizes = {file.path: file.size or 0 for file in model.files.values()}
    missing = missing_bytes(store, model, sizes)
    return lacking_bytes(missing, free(store.root)) if missing else 0
