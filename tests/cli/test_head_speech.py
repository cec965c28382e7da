"""Speech of a text by the head in one process: the tokens of words, and a head that fails its
check."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from appliance.cli.head_speech import spoken_states, words_of
from appliance.errors import UnsayableText
from appliance.pcm import RATE_HZ
from appliance.think.recite import Recited
from tests.voice.tiny_head import (
    BROKEN,
    FRAME,
    FRAMES_A_TOKEN,
    SILENT,
    STUCK,
    TinyHead,
    states_of,
    write,
)  # fmt: skip

TEXT = "The sea is wide."
PIECES = [b"The", b" sea", b" is", b" wide", b"."]


def test_a_word_begins_with_the_token_of_its_first_letter() -> None:
    assert words_of(TEXT, PIECES) == ((0, 3, 0), (4, 7, 1), (8, 10, 2), (11, 16, 3))


def test_multi_byte_letters_that_are_split_between_tokens_are_counted_correctly() -> None:
    pieces = ["É".encode()[:1], "É".encode()[1:], "té".encode(), b" a", b"u"]
    assert words_of("Été au", pieces) == ((0, 3, 0), (4, 6, 3))


def recited(value: float = 1.0) -> Recited:
    states = [states_of(tone, value) for tone in range(len(PIECES))]
    return Recited(PIECES, np.stack(states))


def test_each_word_is_in_the_sound_at_its_reported_position(tmp_path: Path) -> None:
    head = TinyHead(write(tmp_path))
    sound, words = spoken_states(head, head.rate_hz, head.dbfs, TEXT, recited())
    assert [TEXT[word.begin : word.end] for word in words] == TEXT.split()
    assert words[-1].over <= len(sound)
    for tone, word in enumerate(words):
        piece = sound[word.at :][: FRAMES_A_TOKEN * FRAME].astype(float)
        loudest = np.abs(np.fft.rfft(piece)).argmax() * RATE_HZ / len(piece)
        assert loudest == pytest.approx(200 + 50 * tone, abs=6)


@pytest.mark.parametrize(
    ("value", "why"), [(SILENT, "no sound"), (STUCK, "repeats a sound"), (BROKEN, "no such sound")]
)
def test_sound_that_fails_the_check_is_an_error(tmp_path: Path, value: float, why: str) -> None:
    head = TinyHead(write(tmp_path))
    with pytest.raises(UnsayableText, match=why):
        spoken_states(head, head.rate_hz, head.dbfs, TEXT, recited(value))
