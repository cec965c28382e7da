"""Tests whether a voice can speak: it has to say a word. Nothing here waits."""

from __future__ import annotations

from collections.abc import Callable

from appliance.errors import VoiceError
from appliance.voice.interface import Speech, Voice
from appliance.voice.program import HUNG_S, START_S

WORD = "Yes."
# Timeout from its start to the word's end. A program's own timeouts (program.py) are shorter, and
# their messages more specific.
TRIAL_S = START_S + HUNG_S


class VoiceTrial:
    """One trial. `verdict`: None while it runs, then the problem; "" for none.

    The caller makes and closes the voice. `first_s`: seconds from the order to the first sound.
    """

    def __init__(self, voice: Voice, now_s: Callable[[], float]) -> None:
        self.voice = voice
        self.verdict: str | None = None
        self.first_s: float | None = None
        self._now_s = now_s
        self._started_s = self._ordered_s = now_s()
        self._speech: Speech | None = None

    def fileno(self) -> int:
        """The descriptor to poll; -1 before the word was ordered."""
        return self._speech.fileno() if self._speech is not None else -1

    def poll(self) -> None:
        if self.verdict is not None:
            return
        self.voice.poll()
        try:
            self.verdict = self._continue()
        except VoiceError as error:
            self.verdict = error.problem
        if self.verdict is None and self._now_s() - self._started_s > TRIAL_S:
            if self._speech is not None:
                self._speech.cancel()
            self.verdict = f"The voice {self.voice.name} said nothing within {TRIAL_S:.0f} s."

    def _continue(self) -> str | None:
        """Continue the trial. Returns the verdict, or None. Raises VoiceError."""
        if self._speech is None:
            if not self.voice.ready:
                return self.voice.problem or None
            self._ordered_s = self._now_s()
            self._speech = self.voice.synthesise(WORD)
        while (samples := self._speech.read()) is not None:
            if not len(samples):
                return None
            if self.first_s is None and samples.any():
                self.first_s = self._now_s() - self._ordered_s
        return "" if self.first_s is not None else f"The voice {self.voice.name} made no sound."
