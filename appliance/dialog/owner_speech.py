"""The owner's speech: the current utterance, and which words were recognised in it.

In: numbers of utterances and onsets, recognised words. Out: which utterance counts, and whether it
is nothing but "stop".
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from appliance.messages.commands import Opening
from appliance.messages.hearing import PhraseKind
from appliance.sound_format import RATE_HZ

WAKE_WORD_FRAMES = 2 * RATE_HZ  # from the onset to the end of the wake word, pre-roll included


@dataclass(frozen=True)
class OwnerSpeech:
    """The owner's newest utterances and words. An utterance has the serial of its onset.

    utterance       the one that is in progress; None: none
    began           the card's index at which it began; 0: unknown
    opening         how the owner opened the floor for it; "": nobody did
    dropped         the newest one that is not to be answered, as after a stop; None: none
    stop_serial     the onset or utterance whose words are a "stop" and no more; 0: none
    long_utterance  the newest one that was too long to be a mere "stop"; 0: none
    words_serial    the sound whose words were recognised last; 0: none
    words           those words
    words_kind      their kind, as in WordsHeard
    """

    utterance: int | None = None
    began: int = 0
    opening: Opening = ""
    dropped: int | None = None
    stop_serial: int = 0
    long_utterance: int = 0
    words_serial: int = 0
    words: str = ""
    words_kind: PhraseKind = "other"

    def begin(self, utterance: int, index: int, opening: Opening) -> OwnerSpeech:
        """`utterance` began at `index`, after the floor was opened in this way."""
        return replace(self, utterance=utterance, began=index, opening=opening)

    def listen(self, utterance: int) -> OwnerSpeech:
        """A piece of `utterance` has come. If its begin was lost, it counts as not chosen."""
        if utterance == self.utterance:
            return self
        return replace(self, utterance=utterance, began=0, opening="")

    def note_wake_word(self, index: int) -> OwnerSpeech:
        """The wake word ended at `index`: it opens the floor for speech that begins with it."""
        if not self.began or index - self.began > WAKE_WORD_FRAMES:
            return self
        return replace(self, opening=self.opening or "wake_word")

    def end(self) -> OwnerSpeech:
        """The utterance in progress has ended."""
        return replace(self, utterance=None, began=0, opening="")

    def drop(self) -> OwnerSpeech:
        """The utterance in progress is not to be answered; without one, `dropped` stays."""
        dropped = self.dropped if self.utterance is None else self.utterance
        return replace(self.end(), dropped=dropped)

    def note_words(self, serial: int, words: str, kind: PhraseKind) -> OwnerSpeech:
        """`words` of this kind were recognised in the sound `serial`."""
        return replace(self, words_serial=serial, words=words, words_kind=kind)

    def asks_to_repeat(self, serial: int) -> bool:
        """Whether the words of the sound `serial` ask for the last sentence, as far as known."""
        return serial == self.words_serial and self.words_kind == "repeat"

    def words_of(self, utterances: tuple[int, ...]) -> str:
        """The newest words, if they belong to one of `utterances`; "": they are unknown."""
        return self.words if self.words_serial in utterances else ""

    def note_stop(self, serial: int) -> OwnerSpeech:
        """The words of `serial` are a "stop" and no more so far."""
        return replace(self, stop_serial=serial)

    def refute_stop(self, serial: int) -> OwnerSpeech:
        """The words of `serial` are more than a "stop"."""
        return replace(self, stop_serial=0) if serial == self.stop_serial else self

    def clear_stop(self) -> OwnerSpeech:
        return replace(self, stop_serial=0)

    def note_long(self, utterance: int) -> OwnerSpeech:
        """`utterance` is too long to be a mere "stop"."""
        return replace(self, long_utterance=utterance)
