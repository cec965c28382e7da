"""A request of the page that a model or a voice is fetched, or goes; and what may be asked for.

Root takes it (cli/requested_model.py) and leaves a wish; the user that fetches carries it out.
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
KINDS: tuple[ModelKind, ...] = ("language", "voice")  # what the box's own fetch brings


class ModelRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`id`: of this request, made up by who asks."""

    id: Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{16}$")]
    do: Literal["fetch", "remove"]
    name: Annotated[str, msgspec.Meta(min_length=1, max_length=60)]


def check_request(
    request: ModelRequest,
    settings: Settings,
    stores: tuple[ModelStore, ...],
    speaking: Collection[str] = (),
) -> CatalogueModel:
    """The model that it is about. `settings`: of the files. `stores`: with each wish. `speaking`:
    voices that speak, beside the one of the files, which may be `auto` or was changed since.
    Raises ModelError for one that there is not, NotAllowed for what would do harm or is under
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
    for other in stores:
        if name := other.wanted() or other.unwanted():
            shown = ShownAs.of("page-wrong-model-under-way", model=name)
            raise NotAllowed(f"{name} is under way.", "Wait until it is done.", shown=shown)
    used = (settings.thinking.model, settings.speaking.voice, *speaking)
    if request.do == "remove" and model.name in used:
        shown = ShownAs.of("page-wrong-model-in-use", model=model.name)
        remedy = "Choose another one, and begin anew."
        raise NotAllowed(f"{model.name} is in use.", remedy, shown=shown)
    if request.do == "fetch" and store.state(model) == "installed":
        shown = ShownAs.of("page-wrong-model-here", model=model.name)
        raise NotAllowed(f"{model.name} is here already.", shown=shown)
    return model
