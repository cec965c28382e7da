"""One answer: the lines that were planned, where each lies in the sound, and what was heard of it.

In: sentences, their places (Spoken) and how far playback came. Out: the words that were heard.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from appliance.messages.limits import MAX_ANSWER, MAX_WORDS
from appliance.messages.speech import Spoken
from appliance.messages.thinking import Sentence, ThoughtEnded
from appliance.messages.tools import ToolCalled
from appliance.sound_format import RATE_HZ

# Speech runs at about 14 characters a second at 165 words a minute; used only until the speaker
# has told the length of a sentence of the same answer.
FRAMES_A_CHARACTER = RATE_HZ / 14


@dataclass(frozen=True)
class Question:
    """What the owner asked. `text` is "" for speech; `at_s` is when the question was complete.

    `chosen`: whoever asked opened the floor first: by the button, the wake word, or from outside.
    What is merely said aloud in mode open is not: it may be a television.

    `first_turn`: the turn in which it was begun, of a question that is asked in pieces; None: this.
    """

    text: str = ""
    seconds: float = 0.0
    utterances: tuple[int, ...] = ()
    at_s: float = 0.0
    chosen: bool = False
    first_turn: int | None = None

    def after(self, earlier: Question) -> Question:
        """This question with an unanswered one before it."""
        text = " ".join(part for part in (earlier.text, self.text) if part)
        chosen = self.chosen and (earlier.chosen or earlier == NOTHING_ASKED)
        seconds = earlier.seconds + self.seconds
        return replace(
            self, text=text[-MAX_WORDS:], seconds=seconds, chosen=chosen,
            first_turn=earlier.first_turn,
        )  # fmt: skip


NOTHING_ASKED = Question()


@dataclass(frozen=True)
class AnswerLine:
    """One sentence. `position` and `frames` are None until the speaker has told them; `words` is
    then as in Spoken, if its voice tells.

    `ours`: words of the box itself ("I lost my thread"), which no memory keeps. `note`: what is
    kept in place of words that are somebody else's, as soon as any of them was heard.
    """

    text: str
    ours: bool = False
    note: str | None = None
    position: int | None = None
    frames: int | None = None
    words: tuple[tuple[int, int], ...] = ()

    def words_after(self, frames: int, share: float) -> str:
        """Its words that are over when `frames` samples, that `share` (0 to 1) of it, were heard:
        as its voice told, or else by their letters."""
        if not self.words or share >= 1.0:
            return first_words(self.text, share)
        over = [characters for characters, frame in self.words if frame <= frames]
        return self.text[: over[-1]] if over else ""


@dataclass(frozen=True)
class Answer:
    """An answer on its way. Positions and frames are samples of the answer, from its start.

    asked      a Think went out for it
    thinking   the thinker works on it: nothing has ended what that Think began
    awaits     the number of the call whose tool has not answered yet; None: nothing is awaited
    behind     what the thinker said since then, to come after the tool's answer
    full       a line found no room in it: it is not all that the thinker said
    closed     EndAnswer went out: no line will follow
    whole      the thinker said all it had to say
    ours       nobody asked: an announcement, which no memory keeps
    position   where in it playback was at `as_of_s`; it may have gone back to say a word again
    sounding   it went on from there
    furthest   as far as it is known to have been heard
    began      the card's index of its first sample that sounded; 0: not known
    """

    turn: int
    question: Question = NOTHING_ASKED
    lines: tuple[AnswerLine, ...] = ()
    asked: bool = False
    thinking: bool = False
    awaits: int | None = None
    behind: tuple[Sentence | ToolCalled | ThoughtEnded, ...] = ()
    full: bool = False
    closed: bool = False
    whole: bool = False
    ours: bool = False
    started: bool = False
    sounding: bool = False
    position: int = 0
    as_of_s: float = 0.0
    furthest: int = 0
    began: int = 0

    def with_line(self, text: str, *, ours: bool = False, note: str | None = None) -> Answer:
        return replace(self, lines=(*self.lines, AnswerLine(text, ours, note)))

    def has_room_for(self, text: str) -> bool:
        """Whether one more line leaves it short enough to be told as one message."""
        letters = sum(len(line.text) + 1 for line in self.lines)
        return letters + len(text) <= MAX_ANSWER

    def with_timing(
        self, number: int, position: int, frames: int, words: tuple[tuple[int, int], ...] = ()
    ) -> Answer:
        """Line `number` lies at `position`, `frames` long, its `words` as in Spoken. A number that
        is not ours is ignored."""
        if not 0 <= number < len(self.lines):
            return self
        line = replace(self.lines[number], position=position, frames=frames, words=words)
        return replace(self, lines=(*self.lines[:number], line, *self.lines[number + 1 :]))

    def with_spoken(self, spoken: Spoken) -> Answer:
        """With what the speaker told of a line."""
        return self.with_timing(spoken.number, spoken.position, spoken.frames, spoken.words)

    def with_failed_line(self, number: int) -> Answer:
        """Line `number` could not be spoken: it takes no time and nobody hears it."""
        return self.with_timing(number, self._spans()[number][0], 0) if self._has(number) else self

    def at(self, position: int, now_s: float, *, sounding: bool) -> Answer:
        """Playback was at `position` at `now_s`."""
        return replace(
            self,
            started=self.started or sounding or position > 0,
            position=position,
            as_of_s=now_s,
            sounding=sounding,
            furthest=max(self.furthest, position),
        )

    def silenced(self, now_s: float) -> Answer:
        """Gone silent just now; where, is known by the clock only, until playback tells."""
        guess = self.at(self.position_at(now_s), now_s, sounding=False)
        return replace(guess, furthest=self.furthest)

    def position_at(self, now_s: float) -> int:
        """Where playback is at `now_s`, by the clock where nothing better is known."""
        if not self.sounding:
            return self.position
        return self.position + max(0, round((now_s - self.as_of_s) * RATE_HZ))

    @property
    def sounded(self) -> bool:
        """Whether all that the thinker had to say became sound: no line of it was lost with the
        speaker, or failed."""
        return self.whole and all(line.ours or line.frames for line in self.lines)

    def remaining_s(self, now_s: float) -> float:
        """Seconds of sound still to come, estimated where the speaker has not told."""
        end = max((start + frames for start, frames in self._spans()), default=0)
        return max(0, end - self.position_at(now_s)) / RATE_HZ

    def heard_text(self, position: int | None = None) -> str:
        """The thinker's words that were heard when playback was at `position`, cut at a word.

        None: to the end of the sound; then a line that the speaker never told of was never said.
        """
        heard: list[str] = []
        if position is not None:
            position = max(position, self.furthest)
        for line, (start, frames) in zip(self.lines, self._spans(), strict=True):
            if frames == 0 or (position is None and line.frames is None):
                continue
            share = 1.0 if position is None else (position - start) / frames
            if share <= 0.0:
                break
            if not line.ours:
                frames_heard = frames if position is None else position - start
                words = line.words_after(frames_heard, share)
                heard.append(words if line.note is None else line.note)
            if share < 1.0:
                break
        return " ".join(part for part in heard if part)

    def _has(self, number: int) -> bool:
        return 0 <= number < len(self.lines)

    def _spans(self) -> list[tuple[int, int]]:
        """(position, frames) of each line; lengths not told yet are guessed from those told."""
        told = [line for line in self.lines if line.frames]
        characters = sum(len(line.text) for line in told)
        frames = sum(line.frames or 0 for line in told)
        pace = frames / characters if characters else FRAMES_A_CHARACTER
        spans: list[tuple[int, int]] = []
        end = 0
        for line in self.lines:
            start = end if line.position is None else line.position
            length = round(len(line.text) * pace) if line.frames is None else line.frames
            spans.append((start, length))
            end = start + length
        return spans


def first_words(text: str, share: float) -> str:
    """The words of `text` that lie wholly within its first `share` (0 to 1), by their letters."""
    if share >= 1.0:
        return text
    limit = share * len(text)
    end = 0
    for word in text.split():
        at = text.index(word, end) + len(word)
        if at > limit:
            break
        end = at
    return text[:end]
