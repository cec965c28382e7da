"""How far the download of a model is, off the disk: `interlude models fetch` runs elsewhere."""

from __future__ import annotations

from pathlib import Path

from appliance.models.store import Store

DONE = 100


def percent(store: Store) -> int:
    """Of the model that is being fetched, or whose fetch was broken off; 100 if there is none."""
    for model in store.models.values():
        if model.shipped or store.state(model) != "partial":
            continue
        size = store.pinned(model).size
        if size:
            files = model.files.values()
            here = sum(_size(store.partial(model, f)) or _size(store.path(model, f)) for f in files)
            return min(DONE - 1, 100 * here // size)
    return DONE


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
