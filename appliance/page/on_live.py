"""The live view, and what is told to the box at once: volume, mute, voice, forget, restart."""

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
from appliance.page.requests import Reply, plain, see_other
from appliance.page.visit import Visit

BACK = ("/", "/set", "/own", "/own/timers", "/own/memory", "/own/models")


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
        "muted": status is not None and status.muted,
        "cut": status is not None and status.cut,
    }
    return visit.page(
        "live",
        summary=visit.box.model.figures.summary(),
        modes={one: texts(f"page-mode-{one.replace('_', '-')}") for one in get_args(ModeName)},
        unmute=visit.box.settings.page.unmute,
        texts=script,
    )


def command(visit: Visit) -> Reply:
    """Do what a form asks for, and go back to where it stands."""
    made = _COMMANDS.get(visit.form.get("do", ""))
    message = made(visit) if made is not None else None
    if message is None:
        return plain(400, "There is no such command, or not with that value.")
    if not visit.box.send(message):
        return plain(503, "The box takes no commands at the moment. Try again.")
    visit.box.model.expect(message, visit.box.now_s())
    back = visit.form.get("back", "/")
    return see_other(back if back in BACK else "/")


def _volume(visit: Visit) -> Message | None:
    try:
        percent = float(visit.form.get("volume", ""))
    except ValueError:
        return None
    return SetVolume(percent / 100) if math.isfinite(percent) and 0 <= percent <= 100 else None


def _mode(visit: Visit) -> Message | None:
    mode = visit.form.get("mode", "")
    no_button = mode == "push_to_talk" and not visit.box.settings.panel.here
    if mode not in get_args(ModeName) or no_button:
        return None
    return SetMode(mode)  # type: ignore[arg-type]  # one of its names


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
