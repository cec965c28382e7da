"""Models that lie in a store as after a fetch, with holes in place of their gigabytes."""

from __future__ import annotations

from appliance.models.catalogue import CatalogueModel
from appliance.models.store import ModelStore, PinnedRevision


def lay(store: ModelStore, model: CatalogueModel) -> None:
    """Create sparse files of the catalogue's sizes where a fetch would place the model, and its
    marker."""
    store.folder(model).mkdir(parents=True, exist_ok=True)
    for file in model.files.values():
        with store.path(model, file).open("wb") as sparse:
            sparse.truncate(file.size or 1)
    found = {file.path: file for file in model.files.values()}
    store.mark(model, PinnedRevision("0" * 40, found))
