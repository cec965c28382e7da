"""`interlude models give|take`: for a playbook that brings the models of a fleet
(models/relay.py)."""

from __future__ import annotations

import sys
from pathlib import Path

import msgspec

from appliance.models import download_news
from appliance.models.relay import Relay, told
from appliance.models.store import Store

OK = 0


def cli_told(store: Store) -> int:
    """`interlude models list --json`."""
    print(msgspec.json.format(msgspec.json.encode(told(store))).decode())
    return OK


def cli_give(store: Store, name: str, file: str, at: int, most: int) -> int:
    """A piece of a file on stdout, in base64, so that no terminal in between changes it."""
    for piece in Relay(store).give(name, file, at, most):
        sys.stdout.buffer.write(piece)
    sys.stdout.buffer.write(b"\n")
    return OK


def cli_take(
    store: Store, name: str, file: str | None, at: int, folder: Path = download_news.FOLDER
) -> int:
    """stdin behind what is here of a file; without a file, put the model in place. A box that
    awaits it is told that it is here, as after a fetch of its own."""
    if file is not None:
        print(Relay(store).take(name, file, at, sys.stdin.buffer))
        return OK
    Relay(store).finish(name)
    if store.wanted() == name and folder.is_dir():
        download_news.leave(download_news.News(name, "here"), folder)
    print(f"{name} is here, every byte verified.")
    return OK
