"""Room on the disk for models."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

from appliance.models.catalogue import CatalogueModel, ModelFile
from appliance.models.store import ModelStore

SPARE_BYTES = 256 << 20  # left free on the disk: a box with a full disk does not boot well


def free_bytes(folder: Path) -> int:
    """Bytes that we may still write to the disk of `folder`."""
    return shutil.disk_usage(folder).free


def parts_first(model: CatalogueModel) -> list[tuple[str, ModelFile]]:
    """The files of a model by their roles, those that are kept in part before the others."""
    return sorted(model.files.items(), key=lambda item: item[1].part is None)


def missing_bytes(store: ModelStore, model: CatalogueModel, sizes: Mapping[str, int]) -> int:
    """The most that bringing the rest of `model` takes on the disk at any time.

    `sizes`: bytes of each file by its path. A part, no larger than its whole file, lies beside it
    for a while; by the time the others come the whole file is gone.
    """
    whole = beside = others = 0
    for file in model.files.values():
        size = sizes.get(file.path, 0)
        have = max(_size(store.source(model, file)), _size(store.partial(model, file)))
        if file.part is None:
            others += max(0, size - have)
        elif not _size(store.path(model, file)):
            whole += max(0, size - have)
            beside = max(beside, size)
    return whole + max(beside, others)


def short_bytes(
    store: ModelStore, model: CatalogueModel, free: Callable[[Path], int] = free_bytes
) -> int:
    """How much room is missing for what of `model` is not here yet; 0 or less if there is enough.

    As far as the catalogue knows the sizes.
    """
    sizes = {file.path: file.size or 0 for file in model.files.values()}
    missing = missing_bytes(store, model, sizes)
    return missing + SPARE_BYTES - free(store.root) if missing else 0


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0
