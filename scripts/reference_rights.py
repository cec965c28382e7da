"""Makes docs/reference/rights.md: what each part may read, write, use, start and reach."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import get_args
from unittest.mock import patch

from appliance.runtime import places, rights
from appliance.runtime.process_table import FILES, Place
from appliance.settings import Settings, load, load_defaults
from appliance.settings.whole import SYSTEM_PROGRAMS

HEAD = """# Rights of each part

What each process of the box may do, beside what all may read: Python, the system's libraries and
settings, `/proc` and `/sys`. Made by `python -m scripts.reference` from `FILES` in
[`process_table.py`](../../appliance/runtime/process_table.py) and
[`rights.py`](../../appliance/runtime/rights.py).
[What holds it, and what it does not cover](../security.md#what-each-part-may-read-and-write).

"""
# As for the service of a box (system/usr/lib/systemd/system/interlude.service).
BOX = {
    "STATE_DIRECTORY": "/var/lib/interlude",
    "RUNTIME_DIRECTORY": "/run/interlude",
    "CREDENTIALS_DIRECTORY": "/run/credentials/interlude.service",
}
MEANINGS: dict[Place, str] = {
    "OOM scores": "its programs' order for the kernel's out-of-memory killer",
    "audio-encoder": "the graph made of the model's audio encoder",
    "broker": "the certificate of the broker",
    "broker secrets": "password and certificates for the broker, also those that the settings name",
    "conductor": "mute, values set at run time, the socket for commands of a shell",
    "control socket": "that socket on a development machine",
    "enrolled": "the owner's voice",
    "incoming": "archives of updates, and requests for one",
    "link": "what it left at the broker",
    "listener": "the room's echo",
    "memory": "the conversations",
    "memory/states": "the model's state of the last turns",
    "memory/uploads": "archives of a restore",
    "models": "models and voices",
    "name resolution": "addresses of name servers",
    "notes of root": "outcomes and progress, written by units of root and of the downloading users",
    "openings": "the model's state of persona and tools",
    "owner's settings": "on a development machine: the folder of the settings file",
    "page": "the browsers that were let in, and the request to undo a restore",
    "page certificate": "certificate and key, also those that the settings name",
    "panel": "the panel's health, and the note of a reset",
    "releases": "the installed releases",
    "requests": "for units of root: settings, Wi-Fi, models",
    "restore outcome": "the result of the last restore",
    "server key": "the file that `thinking.remote.key_file` names",
    "sound settings": "ALSA's; on a development machine also those of a sound server",
    "timers": "timers and alarms",
    "voices": "programs of voices",
    "warnings": "the stored warnings",
    "wishes": "requests for set-up or a reset",
}


def page() -> str:
    """The page in Markdown."""
    with patch.dict(os.environ, BOX, clear=True):
        return "\n".join([HEAD.rstrip(), "", *_parts(), "", "## Places", "", *_places(), ""])


def _parts() -> Iterable[str]:
    yield "| part | reads | writes | devices | starts | network |"
    yield "|---|---|---|---|---|---|"
    settings = load_defaults()
    for name, files in FILES.items():
        cells = (files.reads, files.writes, files.devices, files.starts)
        columns = [", ".join(cell) or "–" for cell in cells]
        yield f"| {name} | {' | '.join(columns)} | {_network(name, settings)} |"


def _network(name: str, settings: Settings) -> str:
    if rights.networked(name, settings):
        return "TCP to the broker's port, DNS"
    server = load(None, {"thinking": {"remote": {"url": "http://server"}}})
    if rights.networked(name, server):
        return "none; with a model server TCP to its port, DNS"
    if rights.listens_on(name, settings):
        return "accepts on the page's port; opens none"
    sockets = {"none": "", "door": "; a Unix socket for commands", "any": "; Unix sockets"}
    return f"none{sockets[rights.unix_sockets(name, settings)]}"


def _places() -> Iterable[str]:
    yield "| place | path on a box | content |"
    yield "|---|---|---|"
    for place in sorted(get_args(Place)):
        yield f"| {place} | {_paths(place)} | {MEANINGS[place]} |"


def _paths(place: Place) -> str:
    if place == "voices":  # elsewhere they are in the state folder
        return f"`{SYSTEM_PROGRAMS}`"
    found = [f"`{path}`" for path in places.paths(place, load_defaults())]
    return ", ".join(found) or "–"
