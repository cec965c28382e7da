"""Selects the words of a sentence, and the part of its sound, that a recogniser checks. Pure."""

from __future__ import annotations

import re

import numpy as np

from appliance.pcm import RATE_HZ, Samples

LEAST_WORDS = 2
LEAST_SAMPLES = RATE_HZ // 2  # the fit of a shorter sound is not reliable
MOST_SAMPLES = 4 * RATE_HZ  # of one sentence, to limit the computing time


def part_to_judge(
    text: str, sound: Samples, ends: list[tuple[int, int]]
) -> tuple[list[str], Samples] | None:
    """The words and the sound of the part of a sentence that is judged; None if it is too short, or
    has words that are not said as they are written. `ends`: for each word, the characters said by
    its end, and the sample of its end."""
    if len(sound) > MOST_SAMPLES:
        complete = [(said, over) for said, over in ends if over <= MOST_SAMPLES]
        if not complete:
            return None
        said, over = complete[-1]
        text, sound = text[:said], sound[:over]
    words = spoken_words_of(text)
    if words is None or len(words) < LEAST_WORDS or len(sound) < LEAST_SAMPLES:
        return None
    return words, np.ascontiguousarray(sound)


def spoken_words_of(text: str) -> list[str] | None:
    """The words of `text` in lower case; None if it has a part that is not said as it is written:
    a number, a symbol, a letter that English does not have."""
    if re.search(r"[^A-Za-z'’\s.,;:!?\"“”()–—-]", text):
        return None
    found = re.findall(r"[a-z']+", text.lower().replace("’", "'"))
    return [word.strip("'") or word for word in found]
