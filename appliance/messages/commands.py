"""Commands from panel, link, page and command line to the conductor, and the status it sends."""

from __future__ import annotations

from typing import Literal

from appliance.messages.limits import Count, LineText, Names, NameText, ShareValue, WordsText
from appliance.messages.message import BaseMessage

ModeName = Literal["open", "push_to_talk", "wake_word"]
# How the owner opened the floor for a turn: with the wake word, by hand (the button, *Listen*), or
# by typing; "": nobody did, as in mode open, after an answer, or while something rings.
Opening = Literal["", "wake_word", "hand", "typed"]
PressName = Literal["press", "double_press", "long_press", "release"]
ButtonTrouble = Literal["", "stuck", "bouncing"]
StateName = Literal["idle", "listening", "thinking", "speaking", "holding", "muted", "failed"]


class Mute(BaseMessage, frozen=True):
    """Switch the microphone off (`on` is true) or on again."""

    on: bool


class StopSpeaking(BaseMessage, frozen=True):
    """End the answer now, as the stop button does."""


class SetVolume(BaseMessage, frozen=True):
    """Set the loudness of the voice, 0 to 1; playback applies it at once."""

    volume: ShareValue


class Forget(BaseMessage, frozen=True):
    """Forget the conversation: the model's history and the memory on disk.

    The conductor erases the memory and passes the message on to the thinker.
    `last`: forget only the last question and its answer, and the question that asked for this.
    `aloud`: the box confirms by voice when it is done. It always announces a failure.
    """

    last: bool = False
    aloud: bool = False


class ForgetTurn(BaseMessage, frozen=True):
    """Forget one turn of the memory, identified by its time in the memory, `started`, and its
    number. The thinker drops its whole history and asks for a Recall of the turns that remain."""

    started: NameText
    turn: Count


class Forgotten(BaseMessage, frozen=True):
    """Result of a Forget: it was carried out and checked, or `problem` says why it failed.

    The conductor sends it for the memory writer: to the state machine, to the page, and to the
    shell that sent the Forget.
    `late`: a Forget that was reported as failed has now succeeded.
    """

    last: bool = False
    aloud: bool = False
    problem: LineText = ""
    late: bool = False


class SetMode(BaseMessage, frozen=True):
    """Set the listening mode: which speech is accepted from now on."""

    mode: ModeName


class TalkButton(BaseMessage, frozen=True):
    """The talk button went down or came up: playback ends and the box listens.

    In mode push_to_talk `hearing.push_to_talk.press` says whether it listens while the button is
    held or until the next press; in the other modes a press opens the floor for one turn. The
    process that reads the button raises the floor's `press` first, which silences the box at once.
    """

    pressed: bool


class ListenOnce(BaseMessage, frozen=True):
    """Open the floor for one turn, as a press of the talk button does, without a button held."""


class Repeat(BaseMessage, frozen=True):
    """Say the last answer again, as far as the model had generated it."""


class Say(BaseMessage, frozen=True):
    """Speak `text` as an announcement; with `chime` a sound precedes it. `number`: of the Announced
    that reports to the page whether it was heard; 0: none does."""

    text: WordsText
    chime: bool = False
    number: Count = 0


class Announced(BaseMessage, frozen=True):
    """Announcement `number` left the loudspeaker to its end (`heard`), or never will: it was
    interrupted, refused, or could not be spoken."""

    number: Count
    heard: bool


class Ask(BaseMessage, frozen=True):
    """Treat `text` as a question that the owner asked."""

    text: WordsText


class SetVoice(BaseMessage, frozen=True):
    """Tell the speaker to use the voice `name` from the next answer on."""

    name: NameText


class CommandRefused(BaseMessage, frozen=True):
    """Tell a client of the control socket why its command is not carried out."""

    why: LineText


class Restart(BaseMessage, frozen=True):
    """Tell the supervisor to stop every part in order and start again, with the settings read
    anew."""


class ButtonPressed(BaseMessage, frozen=True):
    """The panel reports a recognised gesture of the button, for the link and the page. Messages of
    their own carry its effect on the box. `release` follows a long press and nothing else."""

    kind: PressName


class MuteSwitched(BaseMessage, frozen=True):
    """The panel reports that the switch on the housing cuts the microphone or connects it again.
    The panel has already set the floor's `switched_off`."""

    off: bool


class ButtonFault(BaseMessage, frozen=True):
    """The panel reports that it ignores the button, which is stuck or keeps bouncing, or that the
    button works again."""

    trouble: ButtonTrouble


class BrokerChanged(BaseMessage, frozen=True):
    """The link reports that it reached the MQTT broker or lost it."""

    here: bool


class StatusWanted(BaseMessage, frozen=True):
    """A conductor that replaced a crashed one asks a part to send again what it sends only once
    or on change."""


class VoicesAvailable(BaseMessage, frozen=True):
    """The speaker reports the voices that passed their probe, the best first."""

    voices: Names


class StateChanged(BaseMessage, frozen=True):
    """The state of the dialogue, sent at each change to every process that needs it.

    `ring`: the box is speaking because a timer rings, which repeats.
    `taken_back`: answers since the start that were dropped because the owner continued the
    question, that is, how often the end of a turn was detected too early. `passed_on`: sentences
    since the start that the selected voice could not say and another voice said.
    """

    state: StateName
    turn: Count
    at_ns: int
    reason: LineText = ""
    ring: bool = False
    taken_back: Count = 0
    passed_on: Count = 0


class BoxStatus(BaseMessage, frozen=True):
    """Status of the box, sent to the processes that show it at every change and when they start.

    `broken`: parts that have failed and sound cards that are gone, each as the words of a sentence.
    `house`: whether the link has reached the MQTT broker; None where none is configured.
    `cut`: the switch on the housing cuts the microphone, whatever `muted` is.
    `button`: why the button is ignored; "" while it works.
    `starting`: the model is not loaded yet, or is being loaded again.
    `voices`: voices that passed their probe; () until the speaker has reported.
    `storage`: the disk fails: mute and other values set at run time may be lost at a restart.
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
