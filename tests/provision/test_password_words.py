"""The password of the set-up Wi-Fi has 50 bits and can be understood, remembered and typed."""

from __future__ import annotations

import itertools
import math
import shutil
import subprocess
from collections import Counter
from collections.abc import Sequence

import pytest

from appliance.provision.password_words import COUNT, WORDS, password


def one_letter_apart(words: Sequence[str]) -> set[str]:
    """Patterns that match two words with one different letter, and words that are another word
    without one letter."""
    patterns = Counter(
        word[:at] + "?" + word[at + 1 :] for word in words for at in range(len(word))
    )
    shortened = {word[:at] + word[at + 1 :] for word in words for at in range(len(word))}
    return {pattern for pattern, count in patterns.items() if count > 1} | shortened & {*words}


def test_the_password_has_fifty_bits() -> None:
    assert len(set(WORDS)) == len(WORDS) == 2**10
    assert math.log2(len(WORDS)) * COUNT >= 50
    # Written as one word it can be split in one way only, so that no entropy is lost.
    for word, following in itertools.pairwise(sorted(WORDS)):
        assert not following.startswith(word)


def test_wpa_accepts_the_password_and_it_needs_only_lower_case_letters() -> None:
    assert all(word.isascii() and word.islower() and word.isalpha() for word in WORDS)
    assert all(3 <= len(word) <= 7 for word in WORDS)
    assert 3 * COUNT >= 8
    assert 7 * COUNT <= 63


def test_no_word_is_another_one_with_a_typing_error() -> None:
    assert one_letter_apart(WORDS) == set()


@pytest.mark.parametrize("two", [("spoon", "spook"), ("boat", "oat"), ("pan", "plan")])
def test_words_that_differ_in_one_letter_are_detected(two: tuple[str, str]) -> None:
    assert one_letter_apart(two)


def test_each_password_is_new_and_uses_any_word() -> None:
    drawn = [password() for _ in range(3000)]
    assert len(set(drawn)) == len(drawn)
    assert {len(words) for words in drawn} == {COUNT}
    assert {word for words in drawn for word in words} == set(WORDS)


@pytest.mark.process
@pytest.mark.skipif(shutil.which("espeak-ng") is None, reason="no espeak-ng on this machine")
@pytest.mark.parametrize("voice", ["en-gb", "en-us"])
def test_no_two_words_sound_alike(voice: str) -> None:
    done = subprocess.run(
        ["espeak-ng", "-q", "-x", "-v", voice], input="\n".join(WORDS),
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    sounds = [line.strip() for line in done.stdout.splitlines() if line.strip()]
    assert len(sounds) == len(WORDS)
    assert len(set(sounds)) == len(WORDS)
