"""The floor: a shared page of words, each with exactly one writer, that says which answer may sound
and what holds it."""

from __future__ import annotations

import mmap
import os

PAGE_BYTES = 4096
_LINE_WORDS = 8  # one cache line per word, so that writers do not slow each other down
_MUTED = 3 * _LINE_WORDS
WORDS_REST, NO_READ_AHEAD = 1, 2  # levels of `strain`
_UNKNOWN = 2  # value of `muted` until the conductor has read the stored mute state


def create() -> int:
    """Create the page; returns the descriptor of its memory. The microphone is muted until the
    conductor has read the stored mute state."""
    fd = os.memfd_create("interlude-floor", os.MFD_CLOEXEC)
    os.ftruncate(fd, PAGE_BYTES)
    with mmap.mmap(fd, PAGE_BYTES) as page, memoryview(page) as view, view.cast("Q") as words:
        words[_MUTED] = _UNKNOWN
    return fd


class Floor:
    """The words by name. Playback sounds only frames of `turn`, and only while hold == released and
    press == press_taken.

    turn         conductor's: the answer that may sound; frames of older turns are dropped
    hold         listener's: a serial raised at each onset
    released     conductor's: the last serial of `hold` that it has released
    muted        conductor's: 1 while the microphone's samples must be discarded
    card_lead    capture's: samples that the card has counted beyond CLOCK_MONOTONIC so far; a
                 stream that restarts, in capture or playback, adds it to its origin
    press        panel's: a serial raised at each press that ends playback, before the message that
                 says what was pressed
    press_taken  conductor's: the last press that it has handled
    switched_off panel's: 1 while the switch on the housing cuts the microphone; it overrides
                 `muted`
    closed       panel's: a serial raised at each long press that mutes, before its message: the
                 microphone is cut from then on, without waiting for the conductor
    opened       conductor's: the last `closed` for which it has muted and later unmuted
    panel_lost   supervisor's: 1 while a mute switch is wired and the panel has not read it, does
                 not beat, or does not run: the microphone is cut, as if the switch were at mute
    strain       supervisor's: level of load shedding, 0: none. From WORDS_REST on the recogniser
                 skips words that are not needed at once, from NO_READ_AHEAD on the thinker
                 prepares nothing ahead of a question
    """

    def __init__(self, fd: int) -> None:
        page = memoryview(mmap.mmap(fd, PAGE_BYTES))
        self._words, self._signed = page.cast("Q"), page.cast("q")

    @property
    def turn(self) -> int:
        return self._words[0]

    @turn.setter
    def turn(self, value: int) -> None:
        self._words[0] = value

    @property
    def hold(self) -> int:
        return self._words[_LINE_WORDS]

    @hold.setter
    def hold(self, value: int) -> None:
        self._words[_LINE_WORDS] = value

    @property
    def released(self) -> int:
        return self._words[2 * _LINE_WORDS]

    @released.setter
    def released(self, value: int) -> None:
        self._words[2 * _LINE_WORDS] = value

    @property
    def muted(self) -> bool:
        return bool(self._words[_MUTED])

    @muted.setter
    def muted(self, value: bool) -> None:
        self._words[_MUTED] = int(value)

    @property
    def mute_unknown(self) -> bool:
        """True until `muted` is set for the first time; the microphone is muted until then."""
        return self._words[_MUTED] == _UNKNOWN

    @property
    def card_lead(self) -> int:
        return self._signed[4 * _LINE_WORDS]

    @card_lead.setter
    def card_lead(self, value: int) -> None:
        self._signed[4 * _LINE_WORDS] = value

    @property
    def press(self) -> int:
        return self._words[5 * _LINE_WORDS]

    @press.setter
    def press(self, value: int) -> None:
        self._words[5 * _LINE_WORDS] = value

    @property
    def press_taken(self) -> int:
        return self._words[6 * _LINE_WORDS]

    @press_taken.setter
    def press_taken(self, value: int) -> None:
        self._words[6 * _LINE_WORDS] = value

    @property
    def switched_off(self) -> bool:
        return bool(self._words[7 * _LINE_WORDS])

    @switched_off.setter
    def switched_off(self, value: bool) -> None:
        self._words[7 * _LINE_WORDS] = int(value)

    @property
    def closed(self) -> int:
        return self._words[8 * _LINE_WORDS]

    @closed.setter
    def closed(self, value: int) -> None:
        self._words[8 * _LINE_WORDS] = value

    @property
    def opened(self) -> int:
        return self._words[9 * _LINE_WORDS]

    @opened.setter
    def opened(self, value: int) -> None:
        self._words[9 * _LINE_WORDS] = value

    @property
    def strain(self) -> int:
        return self._words[10 * _LINE_WORDS]

    @strain.setter
    def strain(self, value: int) -> None:
        self._words[10 * _LINE_WORDS] = value

    @property
    def panel_lost(self) -> bool:
        return bool(self._words[11 * _LINE_WORDS])

    @panel_lost.setter
    def panel_lost(self, value: bool) -> None:
        self._words[11 * _LINE_WORDS] = int(value)

    @property
    def shut(self) -> bool:
        """True from a long press that mutes until a command to unmute."""
        return self.closed != self.opened

    @property
    def cut(self) -> bool:
        """True while the switch on the housing cuts the microphone, or its position is unknown; no
        command overrides that."""
        return self.switched_off or self.panel_lost

    @property
    def microphone_off(self) -> bool:
        """True while the microphone's samples must be discarded, for any of the reasons."""
        return self.muted or self.cut or self.shut

    @property
    def pressed(self) -> bool:
        """True while the conductor has not handled a press."""
        return self.press != self.press_taken

    @property
    def held(self) -> bool:
        """True while an onset waits for its verdict."""
        return self.hold != self.released
