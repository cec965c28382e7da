"""A request of the page to fetch or remove a model or a voice, and the check of it.

A root process accepts it (cli/requested_model.py) and writes the file that names the model; the
process of the fetching user carries it out.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Annotated, Literal

import msgspec

from appliance.errors import ModelError, NotAllowed, ShownAs
from appliance.models import catalogue
from appliance.models.catalogue import CatalogueModel, ModelKind
from appliance.models.store import ModelStore
from appliance.settings import Settings

REQUEST = "models"  # its name in runtime/handed_request.py
KINDS: tuple[ModelKind, ...] = ("language", "voice")  # kinds that the box fetches by itself


class ModelRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A request. `id`: 16 hex digits, chosen by the requester."""

    id: Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{16}$")]
    do: Literal["fetch", "remove"]
    name: Annotated[str, msgspec.Meta(min_length=1, max_length=60)]


def check_request(
    request: ModelRequest,
    settings: Settings,
    stores: tuple[ModelStore, ...],
    speaking: Collection[str] = (),
) -> CatalogueModel:
    """Return the model of a request. `settings`: as read from the files. `stores`: one for each
    file of wanted models. `speaking`: voices in use, besides the one in the settings, which may be
    `auto` or have been changed since. Raises ModelError for a model that is unknown or fetched by
    hand, NotAllowed for one that is shipped, in use, here already, or while a fetch is under
    way."""
    store = stores[0]
    model = catalogue.find(request.name, store.models)
    if model.kind not in KINDS:
        raise ModelError(
            f"{model.name} is fetched by hand.",
            f"`interlude models fetch {model.name}`",
            shown=ShownAs.of("page-wrong-model-by-hand", model=model.name),
        )
    if model.shipped:
        shown = ShownAs.of("page-wrong-model-shipped", model=model.name)
        raise NotAllowed(f"{model.name} comes with the box, and stays.", shown=shown)
    for each in stores:
        if name := each.wanted() or each.unwanted():
            shown = ShownAs.of("page-wrong-model-under-way", model=name)
            problem = f"{name} is being fetched or removed already."
            raise NotAllowed(problem, "Wait until it is done.", shown=shown)
    used = (settings.thinking.model, settings.speaking.voice, *speaking)
    if request.do == "remove" and model.name in used:
        shown = ShownAs.of("page-wrong-model-in-use", model=model.name)
        remedy = "Choose another one, and restart the box."
        raise NotAllowed(f"{model.name} is in use.", remedy, shown=shown)
    if request.do == "fetch" and store.state(model) == "installed":
        shown = ShownAs.of("page-wrong-model-here", model=model.name)
        raise NotAllowed(f"{model.name} is here already.", shown=shown)
    return model
