"""Handler of sounds that the owner tries with the loudspeaker; trial_relay.py checks them first."""

from __future__ import annotations

from dataclasses import dataclass

from appliance.dialog.answer import Answer
from appliance.dialog.transition import Transition
from appliance.messages.speech import SoundName, Speak
from appliance.plain_text import spoken


@dataclass(frozen=True)
class PlaySound:
    """Play this sound, then speak `text`; "": play the sound only."""

    sound: SoundName
    text: str = ""


def play_sound(transition: Transition, request: PlaySound) -> None:
    """plays the sound as an announcement if the box is at rest; otherwise does nothing"""
    if not transition.next.at_rest or transition.next.parts.voiceless:
        return
    transition.raise_turn()
    text = spoken(request.text)
    answer = Answer(transition.next.turn, ours=True).with_line(text, ours=True)
    transition.change(answer=answer)
    transition.send("speaker", Speak(answer.turn, 0, text, sound=request.sound))
    transition.close_answer(complete=False)
    if not transition.next.parts.broken:
        transition.enter_state("speaking", "a sound is tried")
        transition.extend_deadline()
