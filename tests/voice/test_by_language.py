"""Each sentence goes to a voice of its language."""

from __future__ import annotations

import pytest

from appliance.errors import VoiceError
from appliance.voice.by_language import IDLE_S, SCAN_S, VoicesByLanguage
from appliance.voice.espeak import EspeakVoice
from appliance.voice.interface import Voice
from tests.voice.fakes import FakeVoice

# The result of a language identifier that knows these texts.
WORDS = {"Guten Morgen.": "de", "Good morning.": "en", "Bonjour.": "fr", "Okay.": ""}


class Box:
    """`here`: installed voices and their language; the first is chosen. Fallback: espeak-ng."""

    def __init__(self, so_far: str = "en", *, espeak: bool = True, **here: str) -> None:
        self.here = {name: frozenset({language}) for name, language in here.items()}
        self.time_s = 0.0
        self.started: list[FakeVoice] = []
        self.looks = 0
        first = FakeVoice(next(iter(here), "anna"))
        self.voices = VoicesByLanguage(
            [first, EspeakVoice(165)] if espeak else [first],
            WORDS.__getitem__, self.look, self.start,
            self.espeak if espeak else self.no_espeak, so_far, now_s=lambda: self.time_s,
        )  # fmt: skip

    def look(self) -> dict[str, frozenset[str]]:
        self.looks += 1
        return self.here

    def start(self, name: str) -> Voice:
        if name == "gone":
            raise VoiceError("It is here no more.")
        self.started.append(FakeVoice(name))
        return self.started[-1]

    def espeak(self, language: str) -> Voice:
        return EspeakVoice(165, language=language)

    def no_espeak(self, language: str) -> Voice:
        raise VoiceError("espeak-ng is not installed.")

    def order(self, text: str) -> list[str]:
        """The names of the voices that may say it; for espeak-ng with its language."""
        return [
            f"espeak {voice.language}" if isinstance(voice, EspeakVoice) else voice.name
            for voice in self.voices.voices_for(text)
        ]


def test_a_sentence_in_the_chosen_voices_language_is_said_by_it() -> None:
    box = Box(hibari="en", thorsten="de")
    assert box.order("Good morning.") == ["hibari", "espeak en"]
    assert box.started == []


def test_a_sentence_in_another_language_is_said_by_an_installed_voice_of_it() -> None:
    box = Box(hibari="en", thorsten="de", eva="de", siwis="fr")
    assert box.order("Guten Morgen.")[:2] == ["thorsten", "espeak de"]
    assert box.order("Guten Morgen.")[0] == "thorsten"
    assert [voice.name for voice in box.started] == ["thorsten"]


def test_without_a_voice_of_the_language_espeak_says_the_sentence() -> None:
    box = Box(hibari="en", thorsten="de")
    assert box.order("Bonjour.")[0] == "espeak fr"
    assert box.started == []


def test_without_any_voice_of_the_language_the_chosen_voice_says_it() -> None:
    assert Box(espeak=False, hibari="en").order("Bonjour.") == ["hibari"]


def test_a_voice_that_was_removed_is_replaced_by_espeak() -> None:
    assert Box(hibari="en", gone="de").order("Guten Morgen.")[0] == "espeak de"


def test_a_sentence_of_unknown_language_keeps_the_language_of_the_last() -> None:
    box = Box(hibari="en")
    assert box.voices.begin("Okay.") == "en"
    assert box.voices.begin("Guten Morgen.") == "de"
    assert box.voices.begin("Okay.") == "de"
    assert box.order("Okay.")[0] == "espeak de"
    assert box.voices.begin("Good morning.") == "en"
    assert box.order("Okay.")[0] == "hibari"


def test_voices_for_does_not_change_the_language() -> None:
    box = Box(hibari="en")
    box.order("Guten Morgen.")
    assert box.order("Okay.")[0] == "hibari"


def test_one_additional_voice_is_loaded_while_it_is_needed() -> None:
    box = Box(hibari="en", thorsten="de", siwis="fr")
    box.order("Guten Morgen.")
    box.order("Bonjour.")
    assert [voice.closed for voice in box.started] == [True, False]
    box.time_s = IDLE_S - 1
    box.order("Bonjour.")
    box.time_s = 2 * IDLE_S - 2
    box.voices.poll()
    assert [voice.closed for voice in box.started] == [True, False]
    box.time_s = 2 * IDLE_S
    box.voices.poll()
    assert [voice.closed for voice in box.started] == [True, True]
    assert box.order("Bonjour.")[0] == "siwis"


def test_installed_voices_are_scanned_periodically_and_a_new_one_speaks() -> None:
    box = Box(hibari="en")
    for _ in range(5):
        box.order("Guten Morgen.")
    assert box.looks == 1
    box.here["thorsten"] = frozenset({"de"})
    box.time_s = SCAN_S
    assert box.order("Guten Morgen.")[0] == "thorsten"


def test_espeak_chosen_by_the_owner_speaks_every_language() -> None:
    box = Box(hibari="en", thorsten="de")
    box.voices.choose([EspeakVoice(165)], asked=False)  # only as a fallback
    assert box.order("Guten Morgen.")[0] == "thorsten"
    box.voices.close()
    box.started.clear()
    box.voices.choose([EspeakVoice(165)], asked=True)
    assert box.order("Good morning.") == ["espeak en"]
    assert box.order("Guten Morgen.") == ["espeak de", "espeak en"]
    assert box.started == []


@pytest.mark.parametrize("loaded", [True, False])
def test_close_closes_all_loaded_voices(loaded: bool) -> None:
    box = Box(hibari="en", thorsten="de")
    if loaded:
        box.order("Guten Morgen.")
    box.voices.close()
    assert all(voice.closed for voice in box.started)
    assert len(box.voices.all) == 2
