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

SCAN_S = 10.0  # between two scans for installed voices: one small file each
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
    _next_scan_s: float = float("-inf")
    _additional: Voice | None = None  # one more loaded voice, of another language
    _last_used_s: float = 0.0
    _espeak_voices: dict[str, Voice] = field(default_factory=dict)

    @property
    def all(self) -> list[Voice]:
        """All loaded voices."""
        additional = [] if self._additional is None else [self._additional]
        return [*self.chosen, *additional, *self._espeak_voices.values()]

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
        suitable = [voice for voice in self.chosen if self._speaks(voice, language)]
        if not suitable and (additional := self._additional_voice(language)) is not None:
            suitable = [additional]
        if not any(isinstance(voice, EspeakVoice) for voice in suitable):
            suitable += self._espeak_voice(language)
        return [*suitable, *(voice for voice in self.chosen if voice not in suitable)]

    def poll(self) -> None:
        """Poll the additional voice, and close it when it is idle. To be called regularly."""
        if self._additional is not None:
            self._additional.poll()
            if self.now_s() - self._last_used_s > IDLE_S:
                self._close_additional()

    def close(self) -> None:
        self._close_additional()
        for voice in self._espeak_voices.values():
            voice.close()
        self._espeak_voices.clear()

    def _speaks(self, voice: Voice, language: str) -> bool:
        if isinstance(voice, EspeakVoice):
            return voice.language == language
        return language in self._installed().get(voice.name, {language})

    def _additional_voice(self, language: str) -> Voice | None:
        """The additional voice if it speaks `language`, or else a new one, just started, in its
        place. None if no other installed voice speaks it."""
        now_s = self.now_s()
        if self._additional is not None and self._speaks(self._additional, language):
            self._last_used_s = now_s
            return self._additional
        name = next(
            (name for name, spoken in self._installed().items() if language in spoken), None
        )
        if name is None or any(voice.name == name for voice in self.chosen):
            return None
        self._close_additional()
        try:
            self._additional, self._last_used_s = self.start(name), now_s
        except VoiceError:
            return None
        return self._additional

    def _espeak_voice(self, language: str) -> list[Voice]:
        if language not in self._espeak_voices:
            try:
                self._espeak_voices[language] = self.espeak(language)
            except VoiceError:
                return []
        return [self._espeak_voices[language]]

    def _installed(self) -> Languages:
        if self.espeak_alone:
            return {}
        if (now_s := self.now_s()) >= self._next_scan_s:
            self._languages, self._next_scan_s = self.here(), now_s + SCAN_S
        return self._languages

    def _close_additional(self) -> None:
        if self._additional is not None:
            self._additional.close()
        self._additional = None
