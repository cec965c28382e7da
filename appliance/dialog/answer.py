"""One answer: its lines, the position of each in the sound, and which part of it was heard.

In: sentences, their positions (Spoken) and positions of playback. Out: the text that was heard.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from appliance.messages.commands import Opening
from appliance.messages.limits import MAX_ANSWER, MAX_WORDS
from appliance.messages.speech import Spoken
from appliance.messages.thinking import Sentence, ThoughtEnded
from appliance.messages.tools import ToolCalled
from appliance.sound_format import RATE_HZ

# An answer begins at most so long before the end of its question: people need more than 0.6 s to
# plan a turn, and most overlaps with the turn before are shorter (Levinson & Torreira 2015).
ANSWERED_EARLY_FRAMES = RATE_HZ
# "Pardon?" within so much of a sentence means the one before: most people say it some 0.7 s after
# the words that they did not understand (Kendrick 2015), and 0.2 s are the gap between sentences.
HARDLY_BEGUN_FRAMES = RATE_HZ
_QUESTION_MARKS, _SENTENCE_ENDS = ("?", "？", "؟"), (".", "!", "?", "…", "。", "！", "？", "؟")
_CLOSING = "\"'”’»)]"

# Speech has about 14 characters a second at 165 words a minute. Used only until the speaker has
# reported the length of a sentence of the same answer.
FRAMES_A_CHARACTER = RATE_HZ / 14


@dataclass(frozen=True)
class Question:
    """What the owner asked. `text` is "" for speech; `at_s` is when the question was complete.

    `opening`: how the owner opened the floor for this very question; "": nobody did, so that it may
    come from a television.

    `first_turn`: the turn in which a question of several pieces began; None: the current turn.
    """

    text: str = ""
    seconds: float = 0.0
    utterances: tuple[int, ...] = ()
    at_s: float = 0.0
    opening: Opening = ""
    first_turn: int | None = None

    def after(self, earlier: Question) -> Question:
        """This question merged with the unanswered one before it."""
        text = " ".join(part for part in (earlier.text, self.text) if part)
        opening = self.opening if earlier == NOTHING_ASKED else _weaker(self, earlier)
        seconds = earlier.seconds + self.seconds
        return replace(
            self, text=text[-MAX_WORDS:], seconds=seconds, opening=opening,
            first_turn=earlier.first_turn,
        )  # fmt: skip


NOTHING_ASKED = Question()
_BY_STRENGTH: tuple[Opening, ...] = ("", "wake_word", "hand", "typed")


def _weaker(question: Question, earlier: Question) -> Opening:
    return min(question.opening, earlier.opening, key=_BY_STRENGTH.index)


@dataclass(frozen=True)
class AnswerLine:
    """One sentence. `position` and `frames` are None until the speaker has reported them; `words`
    is then as in Spoken, if the voice reports the times of words.

    `ours`: words of the box itself ("I lost my thread"), which are not remembered. `note`: replaces
    words of another source in the memory, if any of them was heard.
    """

    text: str
    ours: bool = False
    note: str | None = None
    position: int | None = None
    frames: int | None = None
    words: tuple[tuple[int, int], ...] = ()

    def ends_with(self, marks: tuple[str, ...]) -> bool:
        """Whether the text ends with one of `marks`, closing quotes and brackets aside."""
        return self.text.rstrip(_CLOSING).endswith(marks)

    def words_after(self, frames: int, share: float) -> str:
        """The words completed when `frames` samples of the line, `share` (0 to 1) of it, were
        heard: by the times that the voice reported, or else in proportion to the characters."""
        if not self.words or share >= 1.0:
            return first_words(self.text, share)
        over = [characters for characters, frame in self.words if frame <= frames]
        return self.text[: over[-1]] if over else ""


@dataclass(frozen=True)
class Answer:
    """The current answer. Positions and frames are samples of the answer, from its start.

    asked         its Think was sent
    thinking      the thinker still works on it
    awaited_call  the number of the tool call whose reply is pending; None: none is
    deferred      messages of the thinker that wait for that reply
    full          a line was refused for lack of room: the thinker's text is incomplete here
    closed        EndAnswer was sent: no line follows
    complete      the thinker finished it
    ours          the box's own, such as an announcement; it is not remembered
    number        of the Say that it speaks; 0: none, or nobody waits for its Announced
    started       its sound has started
    position      where playback was at `as_of_s`; it may have gone back to repeat a word
    sounding      playback continued from there
    furthest      the furthest position that is known to have been heard
    began         the card's index of its first sample that sounded; 0: unknown
    """

    turn: int
    question: Question = NOTHING_ASKED
    lines: tuple[AnswerLine, ...] = ()
    asked: bool = False
    thinking: bool = False
    awaited_call: int | None = None
    deferred: tuple[Sentence | ToolCalled | ThoughtEnded, ...] = ()
    full: bool = False
    closed: bool = False
    complete: bool = False
    ours: bool = False
    number: int = 0
    started: bool = False
    sounding: bool = False
    position: int = 0
    as_of_s: float = 0.0
    furthest: int = 0
    began: int = 0

    def with_line(self, text: str, *, ours: bool = False, note: str | None = None) -> Answer:
        return replace(self, lines=(*self.lines, AnswerLine(text, ours, note)))

    def has_room_for(self, text: str) -> bool:
        """Whether the answer with one more line fits into one message (MAX_ANSWER)."""
        letters = sum(len(line.text) + 1 for line in self.lines)
        return letters + len(text) <= MAX_ANSWER

    def with_timing(
        self, number: int, position: int, frames: int, words: tuple[tuple[int, int], ...] = ()
    ) -> Answer:
        """Set the position and length of line `number`, and its `words` as in Spoken. An unknown
        number is ignored."""
        if not 0 <= number < len(self.lines):
            return self
        line = replace(self.lines[number], position=position, frames=frames, words=words)
        return replace(self, lines=(*self.lines[:number], line, *self.lines[number + 1 :]))

    def with_spoken(self, spoken: Spoken) -> Answer:
        """Set the timing of a line from the speaker's report."""
        return self.with_timing(spoken.number, spoken.position, spoken.frames, spoken.words)

    def with_failed_line(self, number: int) -> Answer:
        """Line `number` could not be spoken: its length is 0, and it counts as not heard."""
        return self.with_timing(number, self._spans()[number][0], 0) if self._has(number) else self

    def at(self, position: int, now_s: float, *, sounding: bool) -> Answer:
        """Set the position of playback at `now_s`."""
        return replace(
            self,
            started=self.started or sounding or position > 0,
            position=position,
            as_of_s=now_s,
            sounding=sounding,
            furthest=max(self.furthest, position),
        )

    def silenced(self, now_s: float) -> Answer:
        """Mark it as silent; its position is estimated by the clock until playback reports it."""
        guess = self.at(self.position_at(now_s), now_s, sounding=False)
        return replace(guess, furthest=self.furthest)

    def position_at(self, now_s: float) -> int:
        """The position of playback at `now_s`; while it sounds, extrapolated by the clock."""
        if not self.sounding:
            return self.position
        return self.position + max(0, round((now_s - self.as_of_s) * RATE_HZ))

    @property
    def sounded(self) -> bool:
        """Whether every line of a finished answer became sound: none failed, and none was lost
        with a speaker that died."""
        return self.complete and all(line.ours or line.frames for line in self.lines)

    def remaining_s(self, now_s: float) -> float:
        """Seconds of sound that remain; lengths that are not reported yet are estimated."""
        end = max((start + frames for start, frames in self._spans()), default=0)
        return max(0, end - self.position_at(now_s)) / RATE_HZ

    def asks_owner(self, now_s: float) -> bool:
        """Whether a question to the owner is open: it is the last line so far, and playback is
        within ANSWERED_EARLY_FRAMES of its end, or after it."""
        if not self.lines or not self.lines[-1].ends_with(_QUESTION_MARKS):
            return False
        start, frames = self._spans()[-1]
        latest = max(start, start + frames - ANSWERED_EARLY_FRAMES)
        return frames > 0 and self.position_at(now_s) > latest

    def last_sentence(self, now_s: float) -> int:
        """The position at which the last sentence that was heard begins; the sentence that sounds
        now counts once HARDLY_BEGUN_FRAMES of it were heard."""
        latest = self.position_at(now_s) - HARDLY_BEGUN_FRAMES
        begin, inside = 0, False  # inside: the line before is only a part of its sentence
        for line, (start, frames) in zip(self.lines, self._spans(), strict=True):
            if frames and start <= latest and not inside:
                begin = start
            inside = not line.ends_with(_SENTENCE_ENDS)
        return begin

    def heard_text(self, position: int | None = None) -> str:
        """The thinker's words that were heard up to `position`, cut at a word boundary.

        None: up to the end of the sound, without lines whose length the speaker never reported.
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
        """(position, frames) of each line; missing lengths are estimated from reported ones."""
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
    """The words of `text` that end within the first `share` (0 to 1) of its characters."""
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
