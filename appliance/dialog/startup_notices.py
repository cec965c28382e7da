"""What the owner is told aloud as soon as the box has a voice: settings that cannot be used, and,
once, a release or a system that was left because it did not stay up.

The supervisor's process gathers the sentences before any part runs; the conductor says them.
"""

from __future__ import annotations

import os
import threading
from collections.abc import MutableMapping, Sequence
from pathlib import Path

import msgspec

from appliance.atomic_file import write_whole

TOLD = "told-of-releases"  # in the state's folder: what was said of them last
HANDED = "INTERLUDE_NOTICES"  # environment, for the conductor


class StartupNotices(msgspec.Struct, frozen=True):
    """Sentences: `always` at each start as long as it is so, `once` at the first start."""

    always: str = ""
    once: str = ""

    @property
    def sentences(self) -> list[str]:
        return [sentence for sentence in (self.always, self.once) if sentence]


def gather(state: Path, problem: str, fell_back: Sequence[str]) -> StartupNotices:
    """What is to be said at this start."""
    once = " ".join(fell_back)
    return StartupNotices(problem, once if once != _told(state) else "")


def hand_over(notices: StartupNotices, environment: MutableMapping[str, str]) -> None:
    environment[HANDED] = msgspec.json.encode(notices).decode()


def handed_over() -> StartupNotices:
    """The conductor's end of `hand_over`."""
    said = os.environ.get(HANDED)
    return msgspec.json.decode(said, type=StartupNotices) if said else StartupNotices()


def mark_spoken(state: Path, notices: StartupNotices) -> None:
    """They were said. Returns at once: a card may take seconds to note it."""
    if notices.once:
        note = (state / TOLD, notices.once.encode())
        threading.Thread(target=_note, args=note, daemon=True).start()


def _note(path: Path, data: bytes) -> None:
    try:
        write_whole(path, data, 0o600)
    except OSError:
        return  # then it is said again at the next start


def _told(state: Path) -> str:
    try:
        return (state / TOLD).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""
