"""Handler of what an owner tries with the loudspeaker, once trial_relay.py has let it through."""

from __future__ import annotations

from dataclasses import dataclass

from appliance.dialog.transition import Transition
from appliance.messages.speech import SoundName


@dataclass(frozen=True)
class PlaySound:
    """Play this sound, and then say `text`; "": nothing."""

    sound: SoundName
    text: str = ""


def play_sound(transition: Transition, wanted: PlaySound) -> None:
    """at rest: it sounds, as an announcement does; else nothing"""
    if transition.next.at_rest and not transition.next.parts.voiceless:
        transition.announce(wanted.text, sound=wanted.sound)
