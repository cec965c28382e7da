"""News of a model's download, handed to the box in one small file in memory.

The fetch runs as a user of its own, the only one that speaks with the world, and may neither open
the box's door nor choose what it says. It writes a kind and a model of the catalogue; the box's own
user reads that, and has the sentences (download_announcer.py).
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
STICK: tuple[NewsKind, ...] = ("found", "part", "bad")  # somebody has just put one in


class DownloadNews(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How the fetch of `model` stands.

    kind   fetching  it has begun
           away      the network or the hub is away; it is tried again
           full      the card has no room for it; it is tried again
           card      the card cannot be written; it is tried again
           found     it lies on a stick, and is being copied
           part      the stick has only a part of it: not files number `lacks` of the catalogue
           bad       the stick's files are others
           here      every byte of it is here
           by_stick  it is the owner's own, and can only come on a stick
    """

    model: str
    kind: NewsKind
    lacks: tuple[int, ...] = ()


def write_news(news: DownloadNews, folder: Path = FOLDER) -> None:
    """In the place of what was not read yet. Raises OSError."""
    write_note(folder / NAME, msgspec.json.encode(news).decode())


def pop_news(folder: Path = FOLDER) -> DownloadNews | None:
    """The news, once; None if there is none, or something there that is none. Raises StorageError
    if it cannot be taken away."""
    try:
        return msgspec.json.decode(pop_note(folder / NAME), type=DownloadNews)
    except UNREADABLE:
        return None


def sentence(news: DownloadNews, model: CatalogueModel, words: Catalogue) -> str:
    """As the box says it. Nothing of it is the fetcher's own words."""
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
