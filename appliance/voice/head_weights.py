"""Where the weights of the speech head of this box's language model lie, or why there are none."""

from __future__ import annotations

from pathlib import Path

from appliance.errors import ModelError, VoiceError
from appliance.models import catalogue
from appliance.models.store import STANDS_IN, resolve
from appliance.settings import Settings

MANIFEST = "head.json"
SHIPPED = catalogue.PACKAGE / "head"  # of the pocket model
REMEDY = "Set `speaking.voice` to another voice; docs/speech-head.md says how a head is trained."


def head_folder(settings: Settings, shipped: Path = SHIPPED) -> Path:
    """The folder of the weights. Raises VoiceError, with what is missing."""
    if settings.thinking.remote.url:
        raise VoiceError(
            "A model on a server gives no hidden states, and the voice `head` speaks those.", REMEDY
        )
    try:
        name = resolve(settings).name
    except ModelError as error:
        raise VoiceError(error.problem, error.remedy) from error
    folder = shipped if name == STANDS_IN else settings.models_path() / f"head-{name}"
    if not (folder / MANIFEST).is_file():
        raise VoiceError(f"The weights of a speech head for the model {name} are missing.", REMEDY)
    return folder
