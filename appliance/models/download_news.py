"""News of a model's download, handed to the box in one small file in memory.

The fetch runs as a user of its own, the only one that speaks with the world, and may neither open
the box's door nor choose what it says. It writes a kind and a model of the catalogue; the box's own
user reads that, and has the sentences (download_announcer.py).
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import msgspec

from appliance.models.catalogue import CatalogueModel, megabytes
from appliance.record_file import UNREADABLE
from appliance.update.handed_over_file import pop_note, write_note

FOLDER = Path("/run/interlude-model")  # tmpfiles.d: of interlude-model and the group interlude
NAME = "news"
NewsKind = Literal["fetching", "away", "full", "card", "found", "part", "bad", "here",
               "by_stick"]  # fmt: skip
_ALWAYS: dict[NewsKind, str] = {
    "away": "I cannot fetch my large model now. I will go on trying.",
    "card": "I cannot write my large model to my card. I will go on trying.",
    "found": "I have found my model on the stick. Leave it in while I copy it.",
    "bad": "The model on the stick cannot be used: its files are not what they are called.",
    "here": "My large model is here. I begin anew with it; give me a minute.",
    "by_stick": "My model comes on a USB stick. Plug it in while I run.",
}
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


def sentence(news: DownloadNews, model: CatalogueModel) -> str:
    """As the box says it. Nothing of it is the fetcher's own words."""
    if news.kind in _ALWAYS:
        return _ALWAYS[news.kind]
    size = megabytes(model.size or 0)
    if news.kind == "fetching":
        return f"I am fetching my large model, {size}. Until it is here I know only a little."
    if news.kind == "full":
        return f"My card has no room for my large model, {size}. I will go on trying."
    files = list(model.files.values())
    lacks = [files[number].name for number in news.lacks if 0 <= number < len(files)]
    said = f" {' and '.join(lacks)} {'are' if len(lacks) > 1 else 'is'} not all there."
    return f"The stick has only a part of my model.{said if lacks else ''}"
