"""The live view, and commands that are sent to the box at once: volume, mute, voice, restart."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import get_args

from appliance.messages.commands import (
    Forget,
    ModeName,
    Mute,
    Restart,
    SetMode,
    SetVoice,
    SetVolume,
    StopSpeaking,
)
from appliance.messages.registry import Message
from appliance.page import listening_modes, on_timers
from appliance.page.requests import Reply, plain, see_other
from appliance.page.visit import Visit

BACK = ("/", "/set", "/own", "/own/timers", "/own/memory", "/own/models")
NARROW_S = 24  # seconds shown on a narrow screen, which has no space for labels of a minute
# Notice after a form was sent; the script shows the same text.
_NOTICES = {
    "volume": "page-notice-set-volume",
    "mode": "page-notice-set-mode",
    "voice": "page-notice-set-voice",
}


def show(visit: Visit) -> Reply:
    status, texts = visit.box.model.status, visit.texts
    script = {
        "state": texts.templates("page-state-"),
        "short": texts.templates("page-short-"),
        "ev": texts.templates("page-ev-"),
        "verdicts": texts.templates("page-verdict-"),
        "you": texts("page-live-you"),
        "box": texts("page-live-box"),
        "resumed": texts("page-live-resumed"),
        "lost": texts("page-live-lost"),
        "set": texts.templates("page-notice-set-"),
        "refused": texts("page-live-refused", why="{why}"),
        "offline": texts("page-live-offline"),
        "busy": texts("page-problem-busy-why"),
        "muted": status is not None and status.muted,
        "cut": status is not None and status.cut,
    }
    return visit.page(
        "live",
        summary=visit.box.model.figures.summary(),
        modes=listening_modes.offered(visit),
        unmute=visit.box.settings.page.unmute,
        texts=script,
        timers=on_timers.in_a_line(visit),
        narrow_s=NARROW_S,
    )


def command(visit: Visit) -> Reply:
    """Carry out the command of a form and redirect to the page of the form."""
    name = visit.form.get("do", "")
    if name == "mode" and listening_modes.lacks_button(visit, visit.form.get("mode", "")):
        return plain(409, visit.texts("page-wrong-no-button"))
    make = _COMMANDS.get(name)
    message = make(visit) if make is not None else None
    if message is None:
        return plain(400, "There is no such command, or not with that value.")
    if not visit.box.send(message):
        return plain(503, "The box takes no commands at the moment. Try again.")
    visit.box.model.expect(message, visit.box.now_s())
    back = visit.form.get("back", "/")
    notice = f"?said={_NOTICES[name]}" if name in _NOTICES else ""
    return see_other(f"{back if back in BACK else '/'}{notice}")


def _volume(visit: Visit) -> Message | None:
    try:
        percent = float(visit.form.get("volume", ""))
    except ValueError:
        return None
    return SetVolume(percent / 100) if math.isfinite(percent) and 0 <= percent <= 100 else None


def _mode(visit: Visit) -> Message | None:
    mode = visit.form.get("mode", "")
    return SetMode(mode) if mode in get_args(ModeName) else None  # type: ignore[arg-type]


def _voice(visit: Visit) -> Message | None:
    name, status = visit.form.get("voice", ""), visit.box.model.status
    return SetVoice(name) if status is not None and name in status.voices else None


def _unmute(visit: Visit) -> Message | None:
    return Mute(on=False) if visit.box.settings.page.unmute else None


_COMMANDS: dict[str, Callable[[Visit], Message | None]] = {
    "volume": _volume,
    "mode": _mode,
    "voice": _voice,
    "mute": lambda _: Mute(on=True),
    "unmute": _unmute,
    "stop": lambda _: StopSpeaking(),
    "forget": lambda _: Forget(aloud=True),
    "forget-last": lambda _: Forget(last=True, aloud=True),
    "restart": lambda _: Restart(),
}
