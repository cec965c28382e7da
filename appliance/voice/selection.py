"""The voice that was asked for while the box runs. Pure: messages in, a message to the speaker out.

A speaker that died with the wish is told it again; a voice that none can have is asked for no more.
"""

from __future__ import annotations

from appliance.messages.commands import SetVoice
from appliance.messages.registry import Message
from appliance.messages.speech import SpeakerReady
from appliance.messages.supervision import PartChanged


class VoiceSelection:
    """`name`: to be kept; "": as in the settings. None: nobody has asked for any."""

    def __init__(self) -> None:
        self.name: str | None = None
        self._fresh = False  # a speaker that came up anew has not said yet which voice it has

    def handle(self, message: Message) -> SetVoice | None:
        """What the speaker is to be told."""
        match message:
            case SetVoice(name):
                self.name = name
                return message
            case PartChanged("speaker", "down" | "failed"):
                self._fresh = True
            case SpeakerReady(voice):
                fresh, self._fresh = self._fresh, False
                if self.name and voice != self.name:
                    if fresh:
                        return SetVoice(self.name)
                    self.name = ""
        return None
