"""Reads the note of /usr/lib/interlude/fallback.py about releases and systems that kept failing.

That program decides and needs no release; this module reads its note to inform the owner.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from appliance.language.catalogue import Catalogue, english
from appliance.record_file import read_record
from appliance.update.release.store import ReleaseStore
from appliance.update.system import target

NOTE = "failures.json"


class FallbackNote(msgspec.Struct, frozen=True):
    """The fields of the note that are used here; `Note` in the program describes them all."""

    version: str = ""
    tried: tuple[str, ...] = ()
    left: str = ""
    why: str = ""
    going_to: str = ""
    system_left: str = ""


def read(root: Path) -> FallbackNote:
    """The note; an empty one if there is none, or it cannot be read."""
    return read_record(root / NOTE, FallbackNote) or FallbackNote()


def left(store: ReleaseStore) -> str:
    """The release that the fallback replaced by the kept one; "" if there is none."""
    note, kept = read(store.root), store.kept() or ""
    if note.going_to and note.going_to == kept:  # a power cut came before the note was complete
        return "" if kept in note.tried else note.version
    return note.left if note.version == kept else ""


def sentences(
    store: ReleaseStore | None = None,
    os_release: Path = target.RELEASE,
    words: Catalogue | None = None,
) -> list[str]:
    """Sentences for the owner about what was left; none on a box without such failures.

    `words`: the language's catalogue; English if None."""
    words = words or english()
    store = store or ReleaseStore()
    note, kept, security = read(store.root), store.kept(), store.security()
    found = []
    if security.unwell and security.unwell == kept:
        found.append(words.say("release-kept-unwell", version=kept))
    if replaced := left(store):
        found.append(words.say("release-left", left=replaced, kept=kept or ""))
    elif kept in note.tried and len(note.tried) > 1:
        versions = words.join(note.tried)
        found.append(words.say("releases-both-left", tried=versions))
    system = target.version(os_release)
    if note.system_left and system and note.system_left != system:
        found.append(words.say("system-left", left=note.system_left, now=system))
    return found
