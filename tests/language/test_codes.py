"""The table of languages that the box can be set to."""

from __future__ import annotations

import subprocess

import pytest
from babel import Locale

from appliance.language.catalogue import languages
from appliance.language.codes import NAMES, OWN_NAMES, base, choices, espeak_voice


@pytest.mark.process
def test_espeak_has_a_voice_for_every_language_of_the_table() -> None:
    listed = subprocess.run(["espeak-ng", "--voices"], check=True, capture_output=True, text=True)
    voices = {line.split()[1] for line in listed.stdout.splitlines()[1:]}
    assert {espeak_voice(code) for code in NAMES} - voices == set()


@pytest.mark.parametrize(
    ("code", "language"),
    [("de", "de"), ("de_DE", "de"), ("pt-br", "pt"), ("zh-Hant", "zh"), ("EN", "en"),
     ("no", "nb"), ("nn_NO", "nb"), ("cmn", "zh"), ("", "")],
)  # fmt: skip
def test_a_code_is_reduced_to_its_language(code: str, language: str) -> None:
    assert base(code) == language


@pytest.mark.parametrize(
    ("chosen", "code"), [("no", "no"), ("nb", "nb"), ("de", "nb"), ("auto", "nb"), ("nn", "nb")]
)
def test_each_name_is_offered_once_under_the_chosen_code(chosen: str, code: str) -> None:
    offered = choices(chosen)
    assert list(offered.values()) == sorted(set(OWN_NAMES.values()), key=str.casefold)
    assert [key for key, name in offered.items() if name == "norsk"] == [code]
    assert offered.items() <= OWN_NAMES.items()
    assert chosen in offered or chosen not in NAMES


@pytest.mark.long
def test_each_language_has_its_own_name_from_cldr() -> None:
    assert OWN_NAMES.keys() == NAMES.keys()
    not_in_cldr, one_norwegian = {"bpy", "hak"}, {"nb", "no"}
    for code in NAMES.keys() - not_in_cldr - one_norwegian:
        assert OWN_NAMES[code] == Locale.parse(code).get_language_name(code), code


def test_every_language_with_sentences_is_in_the_table() -> None:
    assert set(languages()) <= NAMES.keys()
