"""`interlude models give|take`: copies model files from box to box for a fleet's playbook.

models/relay.py has the mechanism.
"""

from __future__ import annotations

import sys
from pathlib import Path

import msgspec

from appliance.models import download_news
from appliance.models.relay import ModelRelay, list_models
from appliance.models.store import ModelStore

OK = 0


def cli_list_json(store: ModelStore) -> int:
    """Print every file of every model as JSON (`interlude models list --json`)."""
    print(msgspec.json.format(msgspec.json.encode(list_models(store))).decode())
    return OK


def cli_give(store: ModelStore, name: str, file: str, at: int, most: int) -> int:
    """Print part of a file on stdout, in base64, so that no terminal in between changes it."""
    for piece in ModelRelay(store).give(name, file, at, most):
        sys.stdout.buffer.write(piece)
    sys.stdout.buffer.write(b"\n")
    return OK


def cli_take(
    store: ModelStore, name: str, file: str | None, at: int, folder: Path = download_news.FOLDER
) -> int:
    """Append stdin to a file; without `file`, install the model whose files are complete.

    If the box awaits that model, this writes the news that it is here, as its own fetch does.
    """
    if file is not None:
        print(ModelRelay(store).receive(name, file, at, sys.stdin.buffer))
        return OK
    ModelRelay(store).install(name)
    if store.wanted() == name and folder.is_dir():
        download_news.write_news(download_news.DownloadNews(name, "here"), folder)
    print(f"{name} is here, every byte verified.")
    return OK
