"""Runs the real processes on a simulated card for a bench: the box talks and is interrupted."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TypeVar

import numpy as np

from appliance.cli.rows import rows_to_run
from appliance.errors import CardError
from appliance.messages.commands import Say, StopSpeaking
from appliance.messages.hearing import Onset, SpeechEnded, Verdict
from appliance.messages.playback import Dropouts, PlaybackStarted
from appliance.messages.registry import Message
from appliance.pcm import RATE_HZ, Samples
from appliance.runtime import enabled, process_table
from appliance.settings import Settings
from lab.sim.rehearsal import Rehearsal
from lab.sim.rehearsal_cli import in_the_room, load_over
from lab.sim.scene import Room, Scene
from lab.sim.simulated_card import SoundCard
from lab.sim.speech_source import OwnerSound

T = TypeVar("T")

LEAD = RATE_HZ // 5  # a sound is scheduled this far ahead, as copying it to the card takes time
TALKS_S = 40.0  # used part of TALK, which takes about 50 s; then the box starts it again
TALK = (
    "The moon is the only natural companion of the earth and it has been up there for more than "
    "four thousand million years. It goes around us once a month and always shows us the same "
    "side because the tides have slowed its turning until both took equally long. The dark plains "
    "that you can see with the naked eye are old floods of lava and the bright land between them "
    "is older still and full of holes from stones that fell when the planets were young. Nobody "
    "hears anything up there because there is no air to carry a sound. The sea on our side rises "
    "and falls twice a day as the earth turns beneath the two bulges of water that the moon and "
    "the sun raise together. Sailors knew the hours of the tide long before anybody knew why. The "
    "first people who walked on the moon left their footprints in a dust as fine as flour and "
    "those footprints will be there for a very long time."
)
QUIET = Room(noise="white", noise_db=-70.0)  # a quiet room without an echo
ECHO = Room(noise="white", noise_db=-70.0, echo_db=-30.0)  # the same with one
WITHOUT_THINKER = tuple(
    row.name for row in process_table.PROCESSES if row.name not in {"thinker", *enabled.WANTED}
)


def from_sentence(number: int) -> str:
    """TALK rotated so that it starts with sentence `number`."""
    sentences = TALK.removesuffix(".").split(". ")
    at = number % len(sentences)
    return ". ".join((*sentences[at:], *sentences[:at])) + "."


class BenchHarness(Rehearsal):
    """A rehearsal without a script: `act` is called once all parts are ready, and drives the box.

    `others`: further cards that get the same sounds at the same time.
    `replaced`: process rows by name that are used in place of the table's.
    """

    def __init__(
        self,
        room: Room,
        settings: Settings,
        act: Callable[[BenchHarness], None],
        *,
        parts: tuple[str, ...] = WITHOUT_THINKER,
        others: tuple[SoundCard, ...] = (),
        state: Path | None = None,
        replaced: Mapping[str, process_table.Process] | None = None,
    ) -> None:
        scene = Scene(room=room, name="bench")
        overrides = {"log": "warning", "memory": {"keep_turns": 0, "recall_turns": 0}}
        changed = load_over(in_the_room(scene, settings), overrides)
        replacements = replaced or {}
        rows = tuple(
            replacements.get(row.name, row) for row in rows_to_run(changed) if row.name in parts
        )
        super().__init__(scene, changed, rows=rows, state=state)
        self._act = act
        self._others = others
        self._read_count = 0  # number of messages in the mail that were processed
        self._open_onsets: set[int] = set()  # serials of onsets without a verdict or an end yet
        self.quiet_since = 0  # card index of the newest end of an onset
        self.started_at = 0  # card index at which playback of the newest answer started
        self._started_turn = 0  # its turn
        self._talk_count = 0  # number of calls of Say with TALK
        self._talk_turn = 0  # turn of the newest talk; other answers are not measured
        self.dropouts = {"capture": 0, "playback": 0}
        self.dropouts_reported_ns: list[int] = []  # CLOCK_MONOTONIC of each dropout's message

    def advance(self) -> None:
        """Wait 10 ms, then process new messages."""
        self._collect_once()
        for at, seen in self.recording.mail[self._read_count :]:
            self._handle(at, seen.message)
        self._read_count = len(self.recording.mail)

    def wait(self, seconds: float) -> None:
        self.wait_until(lambda: False, seconds)

    def wait_until(self, condition: Callable[[], bool], timeout_s: float) -> bool:
        """Wait until `condition()` is true. False after `timeout_s`."""
        end = self.card.now() + round(timeout_s * RATE_HZ)
        while not condition():
            if self.card.now() >= end:
                return False
            self.advance()
        return True

    def send(self, message: Message) -> None:
        """Send a message to the conductor."""
        self.mail.send(message)

    def start_talking(self) -> None:
        """Make the box say TALK from its next sentence on, so that interruptions do not always fall
        on the same words. Returns after it has been talking for half a second.

        Raises CardError if it does not start within three tries of 8 s.
        """
        for _ in range(3):
            before = self.started_at
            self.send(StopSpeaking())
            self.send(Say(from_sentence(self._talk_count)))
            self._talk_count += 1
            if self.wait_until(lambda before=before: self.started_at != before, 8.0):  # type: ignore[misc]  # mypy cannot infer a lambda with a default
                self._talk_turn = self._started_turn
                self.wait(0.5)
                return
        raise CardError("The box does not start to speak.", "Run `interlude check`.")

    def add_over_talk(self, sound: OwnerSound, rng: random.Random) -> tuple[int, int]:
        """Play a sound over the talking box, at a random moment. Returns the card index of its
        first sample and that of its onset. Raises SaidTooLate if this process was delayed."""
        if not self.wait_until(self.talking, 1.0):
            self.wait_until(self.settled, 3.0)
            self.start_talking()
        self.wait(rng.uniform(0.0, 0.5))
        at = self.card.now() + LEAD
        return at, self.add_sound(at, sound)

    def talking(self) -> bool:
        """Whether the box is saying TALK, for less than `TALKS_S` so far, with no onset open."""
        talked_s = (self.card.now() - self.started_at) / RATE_HZ
        return (
            self.state is not None
            and (self.state.state, self.state.turn) == ("speaking", self._talk_turn)
            and talked_s < TALKS_S
            and not self._open_onsets
        )

    def settled(self) -> bool:
        """Whether no onset is open."""
        return not self._open_onsets

    def add_sound(self, at: int, sound: OwnerSound) -> int:
        """Play a sound at the microphone from card index `at` on. Returns its onset's index."""
        self._add_sound(at, sound.samples)
        return at + sound.onset

    def messages_since(self, kind: type[T], since: int) -> Iterator[T]:
        """Messages of a kind received since card index `since`, the newest first."""
        for at, seen in reversed(self.recording.mail):
            if at < since:
                return
            if isinstance(seen.message, kind):
                yield seen.message

    @property
    def unread(self) -> int:
        """Slots of the ring `voice` that this process missed while it was delayed."""
        return self._voice.lost

    def synthesised(self, turn: int) -> Samples:
        """The synthesised sound of answer `turn` so far; zeros where slots were missed."""
        chunks = self._voices[turn]
        answer = np.zeros(max((at + len(samples) for at, samples in chunks), default=0), np.int16)
        for at, samples in chunks:
            answer[at : at + len(samples)] = samples
        return answer

    def words_begun(self, turn: int, position: int) -> list[int]:
        """Starts of the words of answer `turn` before `position`, as reported by the voice; sample
        indices in the answer."""
        return [at for at in self._words[turn] if at < position]

    def _run_script(self) -> None:
        self._act(self)

    def _record(self, until: int) -> None:
        self._recorded = until  # `act` reads the card's tracks itself

    def _add_sound(self, at: int, samples: Samples) -> None:
        self.card.add_sound(at, samples)
        for other in self._others:
            other.add_sound(other.index_of(self.card.time_of(at)), samples)

    def _handle(self, at: int, message: object) -> None:
        match message:
            case Onset(serial):
                self._open_onsets.add(serial)
            case Verdict(serial, kind) if kind != "interruption":
                self._close_onset(serial, at)
            case SpeechEnded(utterance, last=True):
                self._close_onset(utterance, at)
            case PlaybackStarted(turn, index):
                self._started_turn, self.started_at = turn, self.index(index)
            case Dropouts(direction, count):
                new = count - self.dropouts[direction]
                self.dropouts_reported_ns += [self.card.time_of(at)] * new
                self.dropouts[direction] = count

    def _close_onset(self, serial: int, at: int) -> None:
        self._open_onsets.discard(serial)
        self.quiet_since = at
