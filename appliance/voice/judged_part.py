"""Which words of a sentence, and which part of its sound, a recogniser is asked about. Pure."""

from __future__ import annotations

import re

import numpy as np

from appliance.pcm import RATE_HZ, Samples

LEAST_WORDS = 2
LEAST_SAMPLES = RATE_HZ // 2  # of less a fit says little
MOST_SAMPLES = 4 * RATE_HZ  # of a sentence: what it costs is bounded


def part_to_judge(
    text: str, sound: Samples, ends: list[tuple[int, int]]
) -> tuple[list[str], Samples] | None:
    """The words and the sound of as much of a sentence as is judged; None of one that is too short,
    or has words that are not said as they are written. `ends`: characters said, and by which
    sample."""
    if len(sound) > MOST_SAMPLES:
        whole = [(said, over) for said, over in ends if over <= MOST_SAMPLES]
        if not whole:
            return None
        said, over = whole[-1]
        text, sound = text[:said], sound[:over]
    words = spoken_words_of(text)
    if words is None or len(words) < LEAST_WORDS or len(sound) < LEAST_SAMPLES:
        return None
    return words, np.ascontiguousarray(sound)


def spoken_words_of(text: str) -> list[str] | None:
    """The words of `text` in small letters; None where a part of it is not said as it is written:
    a number, a sign, a letter that English does not have."""
    if re.search(r"[^A-Za-z'’\s.,;:!?\"“”()–—-]", text):
        return None
    found = re.findall(r"[a-z']+", text.lower().replace("’", "'"))
    return [word.strip("'") or word for word in found]
