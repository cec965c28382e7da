"""Room on the disk for models."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from appliance.models.catalogue import Model
from appliance.models.store import Store

SPARE_BYTES = 256 << 20  # left free on the disk: a box with a full disk does not boot well


def free_bytes(folder: Path) -> int:
    """Bytes that we may still write to the disk of `folder`."""
    return shutil.disk_usage(folder).free


def short_bytes(store: Store, model: Model, free: Callable[[Path], int] = free_bytes) -> int:
    """How much room is missing for what of `model` is not here yet; 0 or less if there is enough.

    As far as the catalogue knows the sizes.
    """
    missing = 0
    for file in model.files.values():
        have = max(_size(store.path(model, file)), _size(store.partial(model, file)))
        missing += max(0, (file.size or 0) - have)
    return missing + SPARE_BYTES - free(store.root) if missing else 0


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0
