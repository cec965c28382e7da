"""Progress of a model's download, computed from file sizes, as another process fetches it."""

from __future__ import annotations

from appliance.models.catalogue import CatalogueModel, ModelFile
from appliance.models.model_disk import size_of
from appliance.models.store import ModelStore

DONE = 100


def percent(store: ModelStore) -> int:
    """Percentage of the model that is being fetched, was interrupted, or is awaited; else 100."""
    wanted = store.wanted()
    for model in store.models.values():
        if store.pinned(model).size and _incomplete(store, model, awaited=model.name == wanted):
            return of_model(store, model)
    return DONE


def of_model(store: ModelStore, model: CatalogueModel) -> int:
    """Percentage of one incomplete model: 0 to 99."""
    fetched = sum(_fetched_bytes(store, model, file) for file in model.files.values())
    return min(DONE - 1, 100 * fetched // (store.pinned(model).size or fetched or 1))


def _fetched_bytes(store: ModelStore, model: CatalogueModel, file: ModelFile) -> int:
    """Bytes of a file that have been fetched. If only a part of it is kept and that part exists,
    the file counts as completely fetched."""
    if file.part is not None and size_of(store.path(model, file)):
        return file.size or 0
    return store.present(model, file)


def _incomplete(store: ModelStore, model: CatalogueModel, *, awaited: bool) -> bool:
    state = store.state(model)
    return state == "partial" or (state == "missing" and awaited)
