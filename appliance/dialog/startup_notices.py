"""Announcements at the start: settings that cannot be used, and, once, a settings file that is
ignored, or a release or system that was rolled back because it did not stay up.

The supervisor's process gathers the sentences before any part runs; the conductor speaks them as
soon as a voice is loaded.
"""

from __future__ import annotations

import os
import threading
from collections.abc import MutableMapping, Sequence
from pathlib import Path

import msgspec

from appliance.background_file import write_private

TOLD = "conductor/told-of-releases"  # in the state folder: the last sentences that were said once
HANDED = "INTERLUDE_NOTICES"  # environment variable that passes the notices to the conductor


class StartupNotices(msgspec.Struct, frozen=True):
    """Sentences: `always` at each start while the problem lasts, `once` at one start only."""

    always: str = ""
    once: str = ""

    @property
    def sentences(self) -> list[str]:
        return [sentence for sentence in (self.always, self.once) if sentence]


def gather(state: Path, problem: str, sentences: Sequence[str]) -> StartupNotices:
    """The notices of this start. `sentences` are left out if they were announced before."""
    once = " ".join(sentences)
    return StartupNotices(problem, once if once != _last_announced(state) else "")


def hand_over(notices: StartupNotices, environment: MutableMapping[str, str]) -> None:
    environment[HANDED] = msgspec.json.encode(notices).decode()


def handed_over() -> StartupNotices:
    """Read what `hand_over` wrote; called by the conductor."""
    encoded = os.environ.get(HANDED)
    return msgspec.json.decode(encoded, type=StartupNotices) if encoded else StartupNotices()


def mark_spoken(state: Path, notices: StartupNotices) -> None:
    """Record that the notices were spoken. Returns at once, since a card may take seconds."""
    if notices.once:
        note = (state / TOLD, notices.once.encode())
        threading.Thread(target=_write_note, args=note, daemon=True).start()


def _write_note(path: Path, data: bytes) -> None:
    try:
        write_private(path, data)
    except OSError:
        return  # then it is announced again at the next start


def _last_announced(state: Path) -> str:
    try:
        return (state / TOLD).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""
