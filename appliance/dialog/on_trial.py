"""Handler of what an owner tries with the loudspeaker, once trial_relay.py has let it through."""

from __future__ import annotations

from dataclasses import dataclass

from appliance.dialog.answer import Answer
from appliance.dialog.transition import Transition
from appliance.messages.speech import SoundName, Speak
from appliance.plain_text import spoken


@dataclass(frozen=True)
class PlaySound:
    """Play this sound, and then say `text`; "": nothing."""

    sound: SoundName
    text: str = ""


def play_sound(transition: Transition, wanted: PlaySound) -> None:
    """at rest: it sounds, as an announcement does; else nothing"""
    if not transition.next.at_rest or transition.next.parts.voiceless:
        return
    transition.raise_turn()
    text = spoken(wanted.text)
    answer = Answer(transition.next.turn, ours=True).with_line(text, ours=True)
    transition.change(answer=answer)
    transition.send("speaker", Speak(answer.turn, 0, text, sound=wanted.sound))
    transition.close_answer(whole=False)
    if not transition.next.parts.broken:
        transition.enter_state("speaking", "a sound is tried")
        transition.extend_deadline()
