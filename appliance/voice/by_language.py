"""Selects the voices that may say a sentence, by its language. Nothing here waits.

In: the chosen voice and its fallback, the other installed voices, a sentence. Out: the voices that
may say it, the best first: one of its language, espeak-ng in its language, then the other chosen
ones.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from appliance.errors import VoiceError
from appliance.voice.espeak import EspeakVoice
from appliance.voice.interface import Voice

LOOK_S = 10.0  # between two scans for installed voices: one small file each
IDLE_S = 600.0  # after so long without use an additional voice is closed, for its memory
Languages = Mapping[str, frozenset[str]]  # of each voice, by its name


@dataclass
class VoicesByLanguage:
    """`chosen`: the voice of the settings, and its fallback.

    identify  returns the language of a text, or "" (language/identify.py)
    here      returns the languages of the installed voices; a voice without an entry speaks any
    start     starts the voice of a name, which is ready some time later. Raises VoiceError
    espeak    returns espeak-ng in a language. Raises VoiceError if it is not installed
    so_far    language of the last sentence; it is assumed for a text that cannot be identified
    espeak_alone
              the owner has chosen espeak-ng, so it speaks every language
    """

    chosen: Sequence[Voice]
    identify: Callable[[str], str]
    here: Callable[[], Languages]
    start: Callable[[str], Voice]
    espeak: Callable[[str], Voice]
    so_far: str
    espeak_alone: bool = False
    now_s: Callable[[], float] = time.monotonic
    _languages: Languages = field(default_factory=dict)
    _look_at_s: float = float("-inf")
    _beside: Voice | None = None  # an additional loaded voice, of another language than the chosen
    _needed_s: float = 0.0
    _stand_ins: dict[str, Voice] = field(default_factory=dict)

    @property
    def all(self) -> list[Voice]:
        """All loaded voices."""
        beside = [] if self._beside is None else [self._beside]
        return [*self.chosen, *beside, *self._stand_ins.values()]

    def choose(self, voices: Sequence[Voice], *, asked: bool) -> None:
        """Replace the chosen voices. `asked`: the owner has requested the first of them."""
        self.chosen = voices
        self.espeak_alone = asked and isinstance(voices[0], EspeakVoice)

    def language_of(self, text: str) -> str:
        return self.identify(text) or self.so_far

    def begin(self, text: str) -> str:
        """Note that `text` is said now. Returns its language."""
        self.so_far = self.language_of(text)
        return self.so_far

    def voices_for(self, text: str) -> list[Voice]:
        """The voices that may say `text`, the best first."""
        language = self.language_of(text)
        able = [voice for voice in self.chosen if self._speaks(voice, language)]
        if not able and (beside := self._other(language)) is not None:
            able = [beside]
        if not any(isinstance(voice, EspeakVoice) for voice in able):
            able += self._stand_in(language)
        return [*able, *(voice for voice in self.chosen if voice not in able)]

    def poll(self) -> None:
        """Poll the additional voice, and close it when it is idle. To be called regularly."""
        if self._beside is not None:
            self._beside.poll()
            if self.now_s() - self._needed_s > IDLE_S:
                self._close_beside()

    def close(self) -> None:
        self._close_beside()
        for voice in self._stand_ins.values():
            voice.close()
        self._stand_ins.clear()

    def _speaks(self, voice: Voice, language: str) -> bool:
        if isinstance(voice, EspeakVoice):
            return voice.language == language
        return language in self._look().get(voice.name, {language})

    def _other(self, language: str) -> Voice | None:
        """The additional voice if it speaks `language`, or else a new one, just started, in its
        place. None if no other installed voice speaks it."""
        now_s = self.now_s()
        if self._beside is not None and self._speaks(self._beside, language):
            self._needed_s = now_s
            return self._beside
        name = next((name for name, spoken in self._look().items() if language in spoken), None)
        if name is None or any(voice.name == name for voice in self.chosen):
            return None
        self._close_beside()
        try:
            self._beside, self._needed_s = self.start(name), now_s
        except VoiceError:
            return None
        return self._beside

    def _stand_in(self, language: str) -> list[Voice]:
        if language not in self._stand_ins:
            try:
                self._stand_ins[language] = self.espeak(language)
            except VoiceError:
                return []
        return [self._stand_ins[language]]

    def _look(self) -> Languages:
        if self.espeak_alone:
            return {}
        if (now_s := self.now_s()) >= self._look_at_s:
            self._languages, self._look_at_s = self.here(), now_s + LOOK_S
        return self._languages

    def _close_beside(self) -> None:
        if self._beside is not None:
            self._beside.close()
        self._beside = None
