"""`interlude system models`: as root, passes on the page's request for a model or a voice.

In: one record in a folder in memory, deleted whatever it contains. Out: one line in a file of
root's, whose path unit starts the fetch as another user, and the outcome for the page. Only names
of the catalogue and of the owner's settings are written.
"""

from __future__ import annotations

import pwd
from collections.abc import Callable
from pathlib import Path

from appliance.atomic_file import write_whole
from appliance.cli.requested_change import USER
from appliance.errors import InterludeError, ShownAs, StorageError, VoiceError
from appliance.models.model_request import REQUEST, ModelRequest, check_request
from appliance.models.store import REMOVE, VOICE_WANTED, WANTED, ModelStore
from appliance.runtime import handed_request
from appliance.runtime.handed_request import CHANGED, RequestOutcome
from appliance.settings import Settings
from appliance.settings.adjusted import adjusted


def cli_request(
    settings: Callable[[], Settings],
    *,
    wanted: Path = handed_request.WANTED,
    changed: Path = CHANGED,
    request_file: Path = WANTED,
    voice_request_file: Path = VOICE_WANTED,
    user: int | None = None,
) -> int:
    """Write the requested model's line. Raises StorageError if the outcome cannot be written."""
    user_id = pwd.getpwnam(USER).pw_uid if user is None else user
    request = handed_request.pop(REQUEST, ModelRequest, user_id, wanted)
    if request is None:
        return 0
    try:
        _write_request(request, settings(), request_file, voice_request_file)
    except InterludeError as error:
        print(f"<4>{request.do} of a model: {error}")  # a warning: sd-daemon(3)
        outcome = RequestOutcome.of_error(request.id, error)
    else:
        print(f"{request.do} {request.name}")
        outcome = RequestOutcome(request.id)
    handed_request.tell(REQUEST, outcome, changed)
    return 0


def _speaking(settings: Settings) -> list[str]:
    """The voices in use: the one that is set, also at run time, and the first candidate, which
    speaks if that is `auto`."""
    from appliance.voice.factory import candidates  # imports numpy, which only a removal needs

    now = adjusted(settings)
    try:
        return [now.speaking.voice, *candidates(now)[:1]]
    except VoiceError:
        return [now.speaking.voice]


def _write_request(
    request: ModelRequest, settings: Settings, request_file: Path, voice_request_file: Path
) -> None:
    stores = (ModelStore.of(settings, request_file), ModelStore.of(settings, voice_request_file))
    speaking = _speaking(settings) if request.do == "remove" else []
    model = check_request(request, settings, stores, speaking)
    fetched_voice = request.do == "fetch" and model.kind == "voice"
    line = model.name if request.do == "fetch" else f"{REMOVE}{model.name}"
    try:
        write_whole(voice_request_file if fetched_voice else request_file, f"{line}\n".encode())
    except OSError as error:
        shown = ShownAs.of("page-wrong-model-write", why=error.strerror or "")
        problem = f"The request cannot be written ({error.strerror})."
        raise StorageError(problem, shown=shown) from error
