"""`interlude models give|take`: for a playbook that brings the models of a fleet
(models/relay.py)."""

from __future__ import annotations

import sys
from pathlib import Path

import msgspec

from appliance.models import download_news
from appliance.models.relay import ModelRelay, list_models
from appliance.models.store import ModelStore

OK = 0


def cli_told(store: ModelStore) -> int:
    """`interlude models list --json`."""
    print(msgspec.json.format(msgspec.json.encode(list_models(store))).decode())
    return OK


def cli_give(store: ModelStore, name: str, file: str, at: int, most: int) -> int:
    """A piece of a file on stdout, in base64, so that no terminal in between changes it."""
    for piece in ModelRelay(store).give(name, file, at, most):
        sys.stdout.buffer.write(piece)
    sys.stdout.buffer.write(b"\n")
    return OK


def cli_take(
    store: ModelStore, name: str, file: str | None, at: int, folder: Path = download_news.FOLDER
) -> int:
    """stdin behind what is here of a file; without a file, put the model in place. A box that
    awaits it is told that it is here, as after a fetch of its own."""
    if file is not None:
        print(ModelRelay(store).receive(name, file, at, sys.stdin.buffer))
        return OK
    ModelRelay(store).install(name)
    if store.wanted() == name and folder.is_dir():
        download_news.write_news(download_news.DownloadNews(name, "here"), folder)
    print(f"{name} is here, every byte verified.")
    return OK
