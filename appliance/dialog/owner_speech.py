"""What the owner says: the utterance that is listened to, and what is known of its words.

In: numbers of utterances and onsets, recognised words. Out: which utterance counts, and whether it
is nothing but "stop".
"""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class OwnerSpeech:
    """The owner's newest utterances and words. An utterance has the serial of its onset.

    utterance       the one that is being listened to; None: none
    dropped         the newest that the owner stopped, or that is not to be answered; None: none
    stop_serial     the onset or utterance whose words are a "stop" and no more; 0: none
    long_utterance  the newest one that was too long to be a mere "stop"; 0: none
    words_serial    the sound whose words were recognised last; 0: none
    words           those words
    """

    utterance: int | None = None
    dropped: int | None = None
    stop_serial: int = 0
    long_utterance: int = 0
    words_serial: int = 0
    words: str = ""

    def listen(self, utterance: int) -> OwnerSpeech:
        return replace(self, utterance=utterance)

    def end(self) -> OwnerSpeech:
        """Nothing is listened to any more."""
        return replace(self, utterance=None)

    def drop(self) -> OwnerSpeech:
        """What is being listened to is not to be answered; nor is what was dropped before it."""
        dropped = self.dropped if self.utterance is None else self.utterance
        return replace(self, utterance=None, dropped=dropped)

    def note_words(self, serial: int, words: str) -> OwnerSpeech:
        """`words` were recognised in the sound `serial`."""
        return replace(self, words_serial=serial, words=words)

    def words_of(self, utterances: tuple[int, ...]) -> str:
        """The newest words, if they are of one of `utterances`; "": they are not known."""
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
