"""The effect of `language` on other settings."""

from __future__ import annotations

from pathlib import Path

import pytest

from appliance.errors import SettingsError
from appliance.language.catalogue import catalogue, english, languages
from appliance.settings import load, load_defaults


def test_by_default_the_persona_asks_for_answers_in_the_users_language() -> None:
    settings = load_defaults()
    assert settings.language == "auto"
    assert settings.thinking.persona.endswith("in the language that the user speaks.")
    assert settings.thinking.instruction == "Respond to the audio concisely."
    assert settings.own_language == "en"


def test_in_german_persona_and_instruction_are_german() -> None:
    settings = load(None, {"language": "de"})
    assert settings.thinking.persona.endswith("Antworte immer auf Deutsch.")
    assert settings.thinking.instruction == catalogue("de").say("instruction")
    assert settings.hearing.words.stop == catalogue("de").list("words-stop")
    assert settings.own_language == "de"


def test_in_a_language_without_sentences_the_persona_is_english() -> None:
    persona = load(None, {"language": "fr"}).thinking.persona
    assert persona == f"{english().say('persona')} Always answer in French."


@pytest.mark.parametrize("language", languages())
def test_every_language_has_valid_lists_of_words(language: str) -> None:
    words = load(None, {"language": language}).hearing.words
    assert words.yields
    assert words.carry_on
    assert words.stop
    assert words.repeat


def test_the_owners_own_persona_and_words_are_kept() -> None:
    own = {
        "language": "de",
        "thinking": {"persona": "Sei ein Pirat.", "instruction": ""},
        "hearing": {"words": {"yield": ["moment mal"], "carry_on": []}},
    }
    settings = load(None, own)
    assert settings.thinking.persona == "Sei ein Pirat."
    assert settings.thinking.instruction == ""
    assert (settings.hearing.words.yields, settings.hearing.words.carry_on) == (("moment mal",), ())


@pytest.mark.parametrize(
    ("language", "hint"),
    [
        ("German", "it is `de`"),
        ("xx", "a code of two letters"),
        ("", "a code"),
        ("de-AT", "a code"),
    ],
)
def test_an_unknown_language_is_refused_with_a_hint(
    language: str, hint: str, tmp_path: Path
) -> None:
    file = tmp_path / "settings.yaml"
    file.write_text(f"language: '{language}'\n")
    with pytest.raises(SettingsError, match=f"there is no language `{language}`; .*{hint}"):
        load(file)


@pytest.mark.parametrize("value", ["7", "[a]", "{a: 1}", "yes"])
def test_a_value_that_is_not_text_is_refused_for_keys_that_may_be_auto(
    value: str, tmp_path: Path
) -> None:
    file = tmp_path / "settings.yaml"
    for line in (f"language: {value}", f"thinking: {{persona: {value}}}"):
        file.write_text(f"{line}\n")
        with pytest.raises(SettingsError):
            load(file)
    file.write_text("hearing: {words: {stop: [Stop]}}\n")
    with pytest.raises(SettingsError, match="lower case"):
        load(file)
