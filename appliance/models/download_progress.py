"""How far the download of a model is, off the disk: whoever fetches it runs elsewhere."""

from __future__ import annotations

from pathlib import Path

from appliance.models.catalogue import CatalogueModel, ModelFile
from appliance.models.store import ModelStore

DONE = 100


def percent(store: ModelStore) -> int:
    """Of the model that is being fetched, was broken off, or is to come; 100 if there is none."""
    to_come = store.wanted()
    for model in store.models.values():
        if store.pinned(model).size and _lacks(store, model, awaited=model.name == to_come):
            return of_model(store, model)
    return DONE


def of_model(store: ModelStore, model: CatalogueModel) -> int:
    """Of one model, which is not whole: 0 to 99."""
    here = sum(_here(store, model, file) for file in model.files.values())
    return min(DONE - 1, 100 * here // (store.pinned(model).size or here or 1))


def _here(store: ModelStore, model: CatalogueModel, file: ModelFile) -> int:
    """Bytes of a file that have come. One that is kept in part has come whole if the part is here:
    no more of it is fetched."""
    if file.part is not None and _size(store.path(model, file)):
        return file.size or 0
    return _size(store.partial(model, file)) or _size(store.source(model, file))


def _lacks(store: ModelStore, model: CatalogueModel, *, awaited: bool) -> bool:
    state = store.state(model)
    return state == "partial" or (state == "missing" and awaited)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
