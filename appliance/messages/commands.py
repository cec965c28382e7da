"""Commands from panel, link and command line to the conductor, and the status that it sends."""

from __future__ import annotations

from typing import Literal

from appliance.messages.limits import Count, LineText, Names, NameText, ShareValue, WordsText
from appliance.messages.message import BaseMessage

ModeName = Literal["open", "push_to_talk", "wake_word"]
PressName = Literal["press", "double_press", "long_press", "release"]
ButtonTrouble = Literal["", "stuck", "bouncing"]
StateName = Literal["idle", "listening", "thinking", "speaking", "holding", "muted", "failed"]


class Mute(BaseMessage, frozen=True):
    """Switch the microphone off (`on`), or on again."""

    on: bool


class StopSpeaking(BaseMessage, frozen=True):
    """The stop button: end the answer now."""


class SetVolume(BaseMessage, frozen=True):
    """Loudness of the voice, 0 to 1; to playback, at once."""

    volume: ShareValue


class Forget(BaseMessage, frozen=True):
    """Forget the conversation: the model's history and, on the way, the memory on disk.

    `last`: only the last question and its answer, and the question that asked for this.
    `aloud`: say so when it is done. That it failed is always said.
    """

    last: bool = False
    aloud: bool = False


class ForgetTurn(BaseMessage, frozen=True):
    """Forget one turn of the memory, known by when it began and its number there. The thinker drops
    all that it holds of the conversation, and asks for what is left of the memory."""

    started: NameText
    turn: Count


class Forgotten(BaseMessage, frozen=True):
    """What became of a Forget: it was carried out and checked, or `problem` says why it failed.

    From the memory writer by way of the conductor: to the conversation, to the page, and to a shell
    that asked.
    `late`: what had failed before is done now.
    """

    last: bool = False
    aloud: bool = False
    problem: LineText = ""
    late: bool = False


class SetMode(BaseMessage, frozen=True):
    """Which speech is accepted from now on: the listening mode."""

    mode: ModeName


class TalkButton(BaseMessage, frozen=True):
    """The talk button went down or came up. What sounds ends and the box listens.

    In mode push_to_talk `hearing.push_to_talk.press` says whether it listens while the button is
    held or until the next press; in the others a press opens the floor for one turn. Who owns the
    button raises the floor's `press` first: that silences the box at once.
    """

    pressed: bool


class ListenOnce(BaseMessage, frozen=True):
    """Open the floor for one turn, as a press would; nobody holds a button."""


class Repeat(BaseMessage, frozen=True):
    """Say the last answer again, as far as it was thought."""


class Say(BaseMessage, frozen=True):
    """Speak this aloud; nobody asked. With `chime` a sound goes before it."""

    text: WordsText
    chime: bool = False


class Ask(BaseMessage, frozen=True):
    """Treat this text as the owner's words."""

    text: WordsText


class SetVoice(BaseMessage, frozen=True):
    """Speak with the voice of that name from the next answer on; to the speaker."""

    name: NameText


class CommandRefused(BaseMessage, frozen=True):
    """To a client of the control socket: why the command is not carried out."""

    why: LineText


class Restart(BaseMessage, frozen=True):
    """Stop every part in order and begin anew, with the settings as they are then; to the
    supervisor."""


class ButtonPressed(BaseMessage, frozen=True):
    """From the panel to the link: a gesture of the button, once it is certain. What it asks of the
    box has messages of its own. `release` follows a long press and nothing else."""

    kind: PressName


class MuteSwitched(BaseMessage, frozen=True):
    """From the panel: the switch on the housing cuts the microphone now, or lets it hear. The
    floor's `switched_off` has said so already."""

    off: bool


class ButtonFault(BaseMessage, frozen=True):
    """From the panel: the button is ignored since it is held down or bounces without end; or it
    works again."""

    trouble: ButtonTrouble


class BrokerChanged(BaseMessage, frozen=True):
    """From the link: the MQTT broker was reached, or is gone."""

    here: bool


class StatusWanted(BaseMessage, frozen=True):
    """From a conductor that took over from one that died: tell anew what you tell once or at a
    change only."""


class VoicesAvailable(BaseMessage, frozen=True):
    """From the speaker: the voices that have shown that they can speak, the best first."""

    voices: Names


class StateChanged(BaseMessage, frozen=True):
    """The conversation's state, to every process that watches, once at each change.

    `ring`: it speaks since a timer rings, which it does again and again.
    `taken_back`: answers since the start that were dropped because the owner went on with the
    question: so often a turn was taken to be over too early. `passed_on`: sentences since the
    start that a voice was to say and could not, so that another did.
    """

    state: StateName
    turn: Count
    at_ns: int
    reason: LineText = ""
    ring: bool = False
    taken_back: Count = 0
    passed_on: Count = 0


class BoxStatus(BaseMessage, frozen=True):
    """Status of the box, to the processes that show it: at every change, and when one comes up.

    `broken`: parts that have failed, and cards that are gone, in the words of a sentence.
    `house`: whether the MQTT broker is reached; None where the owner has none.
    `cut`: the switch on the housing cuts the microphone, whatever `muted` says.
    `button`: what is wrong with it; it is ignored then.
    `starting`: the model is not loaded yet, or is being loaded anew.
    `voices`: those that have shown that they can speak; () as long as the speaker has told of none.
    `storage`: the disk fails: mute, or what else was set, may not outlast this start.
    """

    mode: ModeName
    muted: bool
    volume: ShareValue
    voice: NameText = ""
    model: LineText = ""
    broken: Names = ()
    house: bool | None = None
    cut: bool = False
    button: ButtonTrouble = ""
    starting: bool = False
    storage: bool = False
    voices: Names = ()
