"""Finds the weights of the speech head for this box's language model, or why there are none."""

from __future__ import annotations

from pathlib import Path

import msgspec

from appliance.errors import ModelError, VoiceError
from appliance.models import catalogue
from appliance.models.local_model import LocalModel
from appliance.models.model_disk import sha256_of
from appliance.models.store import STANDS_IN, ModelStore, resolve
from appliance.record_file import read_record
from appliance.settings import Settings

MANIFEST = "head.json"
SHIPPED = catalogue.PACKAGE / "head"  # for the pocket model
REMEDY = "Set `speaking.voice` to another voice; docs/speech-head.md says how a head is trained."


class _TrainedOn(msgspec.Struct, frozen=True):
    """The manifest field that is read here. `model`: sha256 of the text model; "" for any."""

    model: str = ""


def head_folder(settings: Settings, shipped: Path = SHIPPED) -> Path:
    """The folder of the weights. Raises VoiceError if they are missing or for another model."""
    if settings.thinking.remote.url:
        raise VoiceError(
            "A model on a server gives no hidden states, and the voice `head` speaks those.", REMEDY
        )
    try:
        model = resolve(settings)
    except ModelError as error:
        raise VoiceError(error.problem, error.remedy) from error
    store = ModelStore.of(settings)
    own = store.root / f"head-{model.name}"
    folder = shipped if model.name == STANDS_IN else own
    if not (folder / MANIFEST).is_file() or not (folder == shipped or store.is_own(own)):
        raise VoiceError(
            f"The weights of a speech head for the model {model.name} are missing.", REMEDY
        )
    manifest = read_record(folder / MANIFEST, _TrainedOn)
    if manifest is None:
        raise VoiceError(f"{folder / MANIFEST} describes no speech head.", REMEDY)
    if manifest.model and manifest.model != _digest(settings, model):
        raise VoiceError(
            f"The speech head in {folder} learnt the states of another model than {model.name}.",
            REMEDY,
        )
    return folder


def _digest(settings: Settings, model: LocalModel) -> str:
    """sha256 of the text model. A downloaded one's was recorded then: hashing gigabytes is slow."""
    store = ModelStore.of(settings)
    known = store.models[model.name]
    record = store.whole(known)
    file = record.files.get(known.files["text"].path) if record is not None else None
    return (file.sha256 if file is not None else None) or sha256_of(model.text)
