"""sherpa-onnx through its real loader, with the tests' own tiny transducer."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from appliance.errors import ModelError
from appliance.hear.words.sherpa_backend import (
    SherpaKeywords,
    SherpaTranscript,
    SherpaWakeWord,
    pieces,
    read_tokens,
)
from appliance.pcm import RATE_HZ
from tests import skips
from tests.hear.tiny_transducer import OKAY_HZ, TOKENS, WAIT_HZ, make, tone
from tests.runtime.attacker import attack

SILENCE = tone(0.0, 0.5, level=0.0)
LISTED = ("wait", "okay")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return make(tmp_path_factory.mktemp("transducer"))


@pytest.mark.parametrize(("hertz", "text"), [(WAIT_HZ, "wait"), (OKAY_HZ, "okay")])
def test_a_listed_phrase_is_recognised(files: dict[str, Path], hertz: float, text: str) -> None:
    words = SherpaKeywords(files, LISTED)
    words.process(SILENCE)
    words.process(tone(hertz, 0.4))
    assert words.hypothesis() == (text, 1.0)


def test_starting_again_discards_the_previous_sound(files: dict[str, Path]) -> None:
    words = SherpaKeywords(files, LISTED)
    words.process(SILENCE)
    words.process(tone(WAIT_HZ, 0.4))
    words.start()
    words.process(SILENCE)
    assert words.hypothesis() == ("", 0.0)


def test_phrases_are_recognised_in_order(files: dict[str, Path]) -> None:
    words = SherpaKeywords(files, LISTED)
    for sound in (SILENCE, tone(OKAY_HZ, 0.4), SILENCE, tone(WAIT_HZ, 0.4)):
        words.process(sound)
    assert words.hypothesis().text == "okay wait"


def test_a_phrase_on_no_list_is_not_recognised(files: dict[str, Path]) -> None:
    words = SherpaKeywords(files, ("wait",))
    words.process(SILENCE)
    words.process(tone(OKAY_HZ, 0.4))
    assert words.hypothesis().text == ""


def test_a_phrase_that_the_model_cannot_spell_is_reported(files: dict[str, Path]) -> None:
    assert SherpaKeywords(files, ("wait", "jazz")).unknown == ("jazz",)


@pytest.mark.process
def test_the_phrases_are_given_to_the_library_without_a_file_on_a_disk(tmp_path: Path) -> None:
    """The part may write none (process_table.FILES)."""
    if skips.lacks_landlock():
        pytest.skip(skips.LANDLOCK)
    models = tmp_path / "models"
    models.mkdir()
    names = {role: str(file) for role, file in make(models).items()}
    code = f"""
from appliance.hear.words.sherpa_backend import SherpaKeywords
files = {{role: Path(file) for role, file in {names!r}.items()}}
found["unknown"] = " ".join(SherpaKeywords(files, ("wait", "jazz")).unknown)
"""
    found = attack("words", tmp_path / "state", code, models_dir=str(models))
    assert found == {"unknown": "jazz"}


def test_the_transcript_recognises_any_word(files: dict[str, Path]) -> None:
    words = SherpaTranscript(files)
    for sound in (SILENCE, tone(OKAY_HZ, 0.4), SILENCE, tone(WAIT_HZ, 0.4)):
        words.process(sound)
    assert words.hypothesis() == ("okay wait", 1.0)


def test_the_wake_word_is_detected_once_in_a_stream(files: dict[str, Path]) -> None:
    wake = SherpaWakeWord(files, "wait")
    sound = np.concatenate([SILENCE, tone(WAIT_HZ, 0.4), SILENCE, tone(OKAY_HZ, 0.4), SILENCE])
    heard = [at for at in range(0, len(sound), 480) if wake.process(sound[at : at + 480])]
    assert len(heard) == 1
    assert RATE_HZ // 2 < heard[0] < 3 * RATE_HZ // 2


def test_a_wake_word_that_cannot_be_spelt_is_refused(files: dict[str, Path]) -> None:
    with pytest.raises(ModelError, match="jazz"):
        SherpaWakeWord(files, "jazz")


def test_a_word_is_spelt_with_the_tokens_merged_first() -> None:
    tokens = {token: number for number, token in enumerate(TOKENS)}
    assert pieces("wait", tokens) == ["▁wait"]
    assert pieces("tao okay", tokens) == ["▁", "t", "a", "o", "▁okay"]
    assert pieces("stop", tokens) is None


def test_an_invalid_token_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "tokens.txt"
    path.write_text("no numbers here\n")
    with pytest.raises(ModelError, match="tokens"):
        read_tokens(path)
