"""Which voices may say a sentence, by its language. Nothing here waits.

In: the voice that was chosen and its stand-in, what else is here, a sentence. Out: the voices that
may say it, the best first: one of its language, espeak-ng in its language, and whoever is left.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from appliance.errors import VoiceError
from appliance.voice.espeak import EspeakVoice
from appliance.voice.interface import Voice

LOOK_S = 10.0  # between two looks at which voices are here: a small file each
IDLE_S = 600.0  # a voice beside the chosen one that nobody needed for so long gives its memory back
Languages = Mapping[str, frozenset[str]]  # of each voice, by its name


@dataclass
class VoicesByLanguage:
    """`chosen`: the voice of the settings, and its stand-in.

    identify  the language of a text, or "" (language/identify.py)
    here      the voices that are here, and what they speak; one that is not named speaks anything
    start     starts the voice of a name, which is ready some time later. Raises VoiceError
    espeak    espeak-ng in a language. Raises VoiceError where it is not installed
    so_far    the language of what was said last: also of what follows, if that cannot be told
    espeak_alone
              the owner wants espeak-ng, and so wants it in every language
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
    _beside: Voice | None = None  # one more that is loaded, of another language than the chosen
    _needed_s: float = 0.0
    _stand_ins: dict[str, Voice] = field(default_factory=dict)

    @property
    def all(self) -> list[Voice]:
        """Those that are loaded."""
        beside = [] if self._beside is None else [self._beside]
        return [*self.chosen, *beside, *self._stand_ins.values()]

    def choose(self, voices: Sequence[Voice], *, asked: bool) -> None:
        """From now on those were chosen. `asked`: the owner asked for the first of them."""
        self.chosen = voices
        self.espeak_alone = asked and isinstance(voices[0], EspeakVoice)

    def language_of(self, text: str) -> str:
        return self.identify(text) or self.so_far

    def begin(self, text: str) -> str:
        """`text` is said now. Returns its language."""
        self.so_far = self.language_of(text)
        return self.so_far

    def voices_for(self, text: str) -> list[Voice]:
        """Those that may say it, the best first."""
        language = self.language_of(text)
        able = [voice for voice in self.chosen if self._speaks(voice, language)]
        if not able and (beside := self._other(language)) is not None:
            able = [beside]
        if not any(isinstance(voice, EspeakVoice) for voice in able):
            able += self._stand_in(language)
        return [*able, *(voice for voice in self.chosen if voice not in able)]

    def poll(self) -> None:
        """See to the voices beside the chosen ones. To be called now and then."""
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
        """A voice of that language; it is started if it is not the one that was needed last."""
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
