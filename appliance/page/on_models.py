"""Models and voices: list, fetch, remove and choose them, with what fits this machine.

The page can neither reach the internet nor write models: it writes a request, a root process turns
it into the file of the wanted model, and the process of the fetching user carries it out. In a
clone of the repository the page shows the command that does the same.
"""

from __future__ import annotations

from dataclasses import dataclass

from appliance.errors import InterludeError
from appliance.models import download_progress
from appliance.models.catalogue import CatalogueModel, megabytes
from appliance.models.disk_space import short_bytes
from appliance.models.memory_need import fits, need_mib
from appliance.models.model_request import KINDS, ModelRequest, check_request
from appliance.models.store import ModelStore
from appliance.page.refusals import refusal, standing_refusal
from appliance.page.requests import Reply, plain, see_other
from appliance.page.visit import PageBox, Visit
from appliance.runtime import handed_request
from appliance.runtime.machine import Machine
from appliance.settings.owner_settings import fingerprint
from appliance.settings.settings_change import SettingsChange
from appliance.voice.description import VoiceDescription, descriptions

PLACE = "/own/models"


@dataclass(frozen=True)
class ModelRow:
    """A model of the catalogue. `percent`: downloaded share while it is being fetched, else None.
    `short`: disk space that is missing for it; "" if there is enough. `memory_gb`: memory that a
    machine needs for it, if this one has less; 0: it fits. `own`: the box can fetch it itself.
    `used`: it is the current model or voice."""

    model: CatalogueModel
    size: str
    state: str
    percent: int | None
    short: str
    memory_gb: int
    own: bool
    used: bool


def rows(box: PageBox) -> list[ModelRow]:
    """The present state of each model, in the catalogue's order."""
    stores, memory = _stores(box), Machine(box.places.machine).memory_mib()
    return [_row(box, stores, model, memory) for model in stores[0].models.values()]


def _row(
    box: PageBox, stores: tuple[ModelStore, ...], row: CatalogueModel, memory: int | None
) -> ModelRow:
    store, model = stores[0], stores[0].pinned(row)
    state = store.state(model)
    awaited = state in ("missing", "partial") and any(row.name == s.wanted() for s in stores)
    short = short_bytes(store, model) if store.root.is_dir() and state == "missing" else 0
    return ModelRow(
        model,
        megabytes(model.size) if model.size else "",
        state,
        download_progress.of_model(store, model) if awaited or state == "partial" else None,
        megabytes(short) if short > 0 else "",
        0 if fits(model, memory) else -(-need_mib(model) // 1024),
        model.kind in KINDS and not model.shipped,
        model.name in (box.files.thinking.model, *_speaking(box)),
    )


def show(visit: Visit, status: int = 200, problem: str = "") -> Reply:
    """Show all models, a fetch or removal that is under way, and the installed voices."""
    box = visit.box
    stores, (stands, _) = _stores(box), box.model_changes.progress()
    problem = problem or standing_refusal(stands, box.model_changes.outcome, visit.texts)
    going = next((store.wanted() for store in stores if store.wanted()), "")
    voices = descriptions(box.settings)
    return visit.page(
        "models",
        status,
        rows=rows(box),
        voices=voices,
        voice_sizes={voice.name: _size(voice) for voice in voices},
        asked=stands == "awaited",
        going=going,
        leaving=next((store.unwanted() for store in stores if store.unwanted()), ""),
        may_ask=may_ask(box),
        problem=problem,
        anew=_chosen(box) != box.files.thinking.model,
        chosen=_chosen(box),
    )


def ask(visit: Visit) -> Reply:
    """Request to fetch a model, whose licence must be accepted, or to remove one."""
    box, do = visit.box, visit.form.get("do", "")
    if do not in ("fetch", "remove") or not may_ask(box):
        return plain(400, "That cannot be requested here.")
    if do == "fetch" and visit.form.get("licence") != "on":
        return show(visit, 400, visit.texts("page-models-licence-first"))
    name = visit.form.get("name", "")[:60] or "?"
    request = ModelRequest(handed_request.new_id(), "fetch" if do == "fetch" else "remove", name)
    try:
        check_request(request, box.files, _stores(box), _speaking(box))
        box.model_changes.ask(request)
    except InterludeError as error:
        return show(visit, 400, refusal(error, visit.texts))
    return see_other(PLACE)


def choose(visit: Visit) -> Reply:
    """Set the language model for the next start; it must be complete."""
    box, name = visit.box, visit.form.get("name", "")
    if not can_answer(box, name):
        return show(visit, 400, visit.texts("page-models-not-here"))
    try:
        base = fingerprint(box.changes.owner.text())
        change = SettingsChange(handed_request.new_id(), base, {"thinking.model": name})
        box.changes.submit(change)
    except InterludeError as error:
        return show(visit, 400, refusal(error, visit.texts))
    return see_other(PLACE)


def can_answer(box: PageBox, name: str) -> bool:
    """Whether it is a complete language model on this box."""
    store = _stores(box)[0]
    model = store.models.get(name)
    if model is None or model.language is None:
        return False
    return store.state(model) in ("shipped", "installed")


def may_ask(box: PageBox) -> bool:
    """Whether models can be requested: only on a box; a clone has no service for it."""
    return box.changes.handed and box.model_changes.is_served


def _stores(box: PageBox) -> tuple[ModelStore, ModelStore]:
    """The store with the file of the wanted model, and the one with that of the wanted voice."""
    places = box.places
    return (
        ModelStore.of(box.settings, places.model_request_file),
        ModelStore.of(box.settings, places.voice_request_file),
    )


def _speaking(box: PageBox) -> list[str]:
    """The voice in use, whatever selected it; [] before the first status."""
    status = box.model.shown_status(box.now_s())
    return [status.voice] if status is not None else []


def _chosen(box: PageBox) -> str:
    """The language model in the settings file; if that cannot be read, the one at the start."""
    try:
        return box.changes.owner.settings().thinking.model
    except InterludeError:
        return box.files.thinking.model


def _size(voice: VoiceDescription) -> str:
    return "" if voice.size_bytes is None else megabytes(voice.size_bytes)
