"""News of a model's download, passed from the fetch to the box in one small file in memory.

The fetch runs as a user of its own, the only one with network access. It may neither use the
control socket nor choose the announced text. It writes a kind and the name of a model of the
catalogue; the box's own user reads them and makes the sentence (download_announcer.py).
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import msgspec

from appliance.language.catalogue import Catalogue
from appliance.models.catalogue import CatalogueModel, megabytes
from appliance.record_file import UNREADABLE
from appliance.update.handed_over_file import pop_note, write_note

FOLDER = Path("/run/interlude-model")  # tmpfiles.d: of interlude-model and the group interlude
NAME = "news"
NewsKind = Literal["fetching", "away", "full", "card", "found", "part", "bad", "here",
               "by_stick"]  # fmt: skip
STICK: tuple[NewsKind, ...] = ("found", "part", "bad")  # follow the insertion of a USB stick


class DownloadNews(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """State of the fetch of `model`.

    kind   fetching  the download has started
           away      the network or the hub is away; the fetch is retried
           full      the SD card has no space for it; the fetch is retried
           card      the SD card cannot be written; the fetch is retried
           found     the model is on a stick, and is being copied
           part      the stick lacks some files: `lacks` are their numbers in the catalogue
           bad       the stick's files have wrong checksums
           here      the model is complete in the store
           by_stick  the model is the owner's own, and can only be copied from a stick
    """

    model: str
    kind: NewsKind
    lacks: tuple[int, ...] = ()


def write_news(news: DownloadNews, folder: Path = FOLDER) -> None:
    """Write the news, replacing news that has not been read yet. Raises OSError."""
    write_note(folder / NAME, msgspec.json.encode(news).decode())


def pop_news(folder: Path = FOLDER) -> DownloadNews | None:
    """Read and delete the news. None if there is none or it is not valid. Raises StorageError if it
    cannot be deleted."""
    try:
        return msgspec.json.decode(pop_note(folder / NAME), type=DownloadNews)
    except UNREADABLE:
        return None


def sentence(news: DownloadNews, model: CatalogueModel, words: Catalogue) -> str:
    """The sentence that the box speaks. No text from the news itself is part of it."""
    size = megabytes(model.size or 0).replace(".", words.say("decimal-sign"))
    match news.kind:
        case "fetching" | "full":
            return words.say(f"model-{news.kind}", size=size)
        case "part":
            files = list(model.files.values())
            lacks = [files[number].name for number in news.lacks if 0 <= number < len(files)]
            if not lacks:
                return words.say("model-part")
            return words.say("model-part-lacks", count=len(lacks), files=words.join(lacks))
        case "by_stick":
            return words.say("model-by-stick")
        case _:
            return words.say(f"model-{news.kind}")
