"""The voice requested at run time. Pure: messages in, a message to the speaker out.

After a restart of the speaker the request is sent again. A voice that the speaker does not take is
not requested any more.
"""

from __future__ import annotations

from appliance.messages.commands import SetVoice
from appliance.messages.registry import Message
from appliance.messages.speech import SpeakerReady
from appliance.messages.supervision import PartChanged


class VoiceSelection:
    """`name`: the voice to be stored; "": the one of the settings. None: no voice was requested."""

    def __init__(self) -> None:
        self.name: str | None = None
        self._restarted = False  # the speaker was restarted and has not reported its voice yet

    def handle(self, message: Message) -> SetVoice | None:
        """The message to send to the speaker, if any."""
        match message:
            case SetVoice(name):
                self.name = name
                return message
            case PartChanged("speaker", "down" | "failed"):
                self._restarted = True
            case SpeakerReady(voice):
                restarted, self._restarted = self._restarted, False
                if self.name and voice != self.name:
                    if restarted:
                        return SetVoice(self.name)
                    self.name = ""
        return None
