"""Languages that the box can be set to."""

from __future__ import annotations

import subprocess

import pytest

from appliance.language.catalogue import languages
from appliance.language.codes import NAMES, base, espeak_voice


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
def test_a_code_is_taken_without_its_country(code: str, language: str) -> None:
    assert base(code) == language


def test_every_language_with_sentences_is_in_the_table() -> None:
    assert set(languages()) <= NAMES.keys()
