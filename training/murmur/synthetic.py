"""Murmurs and calls by synthetic voices, cut as people's are: espeak-ng, hibari, a model of hums.

In: counts, a seed. Out: clips. espeak-ng's voices are divided as in training/verdict; hibari's one
voice and the hums are for training only. flite and festival are left out: not every machine that
trains has them, and clips must be the same everywhere.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import soxr
from hibari import Hibari

from appliance.hear.bargein.recordings import RecordingKind
from appliance.pcm import RATE_HZ
from lab.sim import speech_source
from lab.sim.corpus import Role
from lab.sim.division import part_of
from lab.sim.people import OWN, Clip, Floats, cut
from training.verdict import hums, voices

SEED = 11
SAID, HELD = 2_400, 300  # espeak-ng's clips, half of them murmurs
HUMMED = 400
SPEEDS = (0.8, 1.0, 1.2)
# As hibari reads them well; it has no phonemes of hums.
HIBARI_MURMURS = (
    "Mm-hmm.", "Mhm.", "Uh-huh.", "Yeah.", "Hmm.", "Mmm.", "Okay.", "Right.", "Oh.", "I see.",
    "Sure.", "Yeah, yeah.", "Ah.", "Yep.", "Oh, okay.", "Oh, really?", "Mm-hmm!", "Uh-huh?",
    "Yeah?", "Okay!", "Yes.", "Right?", "Really?", "All right.", "Oh, yeah.", "Exactly.",
)  # fmt: skip
HIBARI_CALLS = 90


def clips() -> list[Clip]:
    """All synthetic clips of all roles, the same for the same versions of both synthesisers."""
    made = [clip for held in (False, True) for clip in _said(held=held)]
    return [*made, *_hibari(), *_hummed()]


def _said(*, held: bool) -> Iterator[Clip]:
    """espeak-ng's, `held`: the benches' voices, which are for the test."""
    for each in voices.clips(HELD if held else SAID, SEED, held=held, others=0.0):
        variant = each.voice.split("+")[-1]
        role, group = part_of("said", variant)
        yield from _clip(each.kind, each.text, "said", group, role, each.wave)


def _hibari() -> Iterator[Clip]:
    table = voices.table()["interruption"]
    calls = [text for text in table["often"] + table["sometimes"] if "[" not in text]
    texts: list[tuple[RecordingKind, str]] = [("backchannel", text) for text in HIBARI_MURMURS]
    texts += [("interruption", text) for text in sorted(set(calls))[:HIBARI_CALLS]]
    voice = Hibari(threads=1)
    for kind, text in texts:
        for speed in SPEEDS if kind == "backchannel" else SPEEDS[1:2]:
            wave = np.asarray(voice(text, speed=speed, seed=SEED), np.float32)
            wave = soxr.resample(wave, voice.sample_rate, RATE_HZ).astype(np.float32)
            yield from _clip(kind, text, "hibari", "heart", "training", wave)


def _hummed() -> Iterator[Clip]:
    chance = np.random.default_rng(SEED)
    for _ in range(HUMMED):
        word, wave = hums.hum(chance)
        yield from _clip("backchannel", word, "hummed", "hums", "training", wave)


def _clip(
    kind: RecordingKind, word: str, source: str, who: str, role: Role, wave: Floats
) -> Iterator[Clip]:
    found = cut(wave, *speech_source.edges(wave))
    if found is not None:
        group = f"{source} {who}"
        yield Clip(kind, word, source, who, group, "", OWN, role, found, narrow=False)
