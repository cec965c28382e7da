"""Builds the dialogue's policy from the settings."""

from __future__ import annotations

from appliance.dialog.policy import DialogPolicy
from appliance.messages.commands import ModeName
from appliance.runtime import process_table
from appliance.settings import Settings
from appliance.settings.language import ANY


def dialog_policy(settings: Settings) -> DialogPolicy:
    """The dialogue's policy; its timeouts are longer than those of the parts."""
    remote_s = settings.thinking.remote.timeout_s if settings.thinking.remote.url else 0.0
    default = DialogPolicy()
    hearing = settings.hearing
    voice_interrupts: dict[ModeName, bool] = {
        "wake_word": hearing.wake.barge_in,
        "push_to_talk": hearing.push_to_talk.voice_interrupts,
    }
    return DialogPolicy(
        verdict_s=hearing.verdict.deadline_ms / 1000 + 0.3,
        listening_s=hearing.turn.piece_s + 5.0,
        think_s=max(default.think_s, remote_s + 5.0),
        grace_s=settings.speaking.grace_ms / 1000,
        follow_s=hearing.wake.open_s,
        toggle=hearing.push_to_talk.press == "toggle",
        by_voice=frozenset(mode for mode, on in voice_interrupts.items() if on),
        needed=frozenset(row.name for row in process_table.PROCESSES if row.needed),
        follows_language=settings.language == ANY,
    )
