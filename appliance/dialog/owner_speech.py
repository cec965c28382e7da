"""The owner's speech: the current utterance, and which words were recognised in it.

In: numbers of utterances and onsets, recognised words. Out: which utterance counts, and whether it
is nothing but "stop".
"""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class OwnerSpeech:
    """The owner's newest utterances and words. An utterance has the serial of its onset.

    utterance       the one that is in progress; None: none
    dropped         the newest one that is not to be answered, as after a stop; None: none
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
        """The utterance in progress has ended."""
        return replace(self, utterance=None)

    def drop(self) -> OwnerSpeech:
        """The utterance in progress is not to be answered; without one, `dropped` stays."""
        dropped = self.dropped if self.utterance is None else self.utterance
        return replace(self, utterance=None, dropped=dropped)

    def note_words(self, serial: int, words: str) -> OwnerSpeech:
        """`words` were recognised in the sound `serial`."""
        return replace(self, words_serial=serial, words=words)

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
