"""Phrases by synthetic voices that no bench uses: espeak-ng, flite and festival.

In: `phrases.yaml` and a seed. Out: clips (16 kHz, float32) with class and text, cached in one file.
"""

from __future__ import annotations

import io
import pickle
import random
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import soundfile
import soxr
import yaml

from appliance.errors import SceneError
from appliance.hear.bargein.recordings import RecordingKind
from appliance.pcm import RATE_HZ
from lab.sim import speech_source, synthetic_phrases
from lab.sim.corpus import held_out

Wave = npt.NDArray[np.float32]
TABLE = Path(__file__).parent / "phrases.yaml"
VARIANTS = tuple(v for v in synthetic_phrases.VARIANTS if not held_out(v))
FLITE = ("awb", "rms", "slt", "kal16")
FESTIVAL = ("ked_diphone", "kal_diphone", "cmu_us_slt_arctic_hts")
KINDS: tuple[RecordingKind, ...] = ("backchannel", "interruption")
OFTEN = 0.6  # of the clips have one of the common phrases
WITHOUT_ESPEAK = 0.12  # of the clips are by flite or festival, which have few voices
LENGTHENED = 0.2  # of espeak-ng's clips are at 0.45 to 0.7 of the speed
LOUDEST = 0.5  # peak of a clip


@dataclass(frozen=True)
class Said:
    """One clip, trimmed to its sound: float32 mono at 16 kHz, peak 0.5."""

    kind: RecordingKind
    text: str
    voice: str
    wave: Wave


def table() -> dict[str, dict[str, list[str]]]:
    loaded: dict[str, dict[str, list[str]]] = yaml.safe_load(TABLE.read_text())
    return loaded


def clips(
    count: int, seed: int, *, held: bool = False, others: float = WITHOUT_ESPEAK
) -> Iterator[Said]:
    """`count` clips, half of them backchannels; the same for the same seed.

    `held`: only with the benches' voices, for evaluation. `others`: share of flite and festival.
    """
    chance = random.Random(seed)
    variants = synthetic_phrases.HELD_OUT if held else VARIANTS
    share = 0.0 if held else others
    said = table()
    while count:
        kind = chance.choice(KINDS)
        often, sometimes = said[kind]["often"], said[kind]["sometimes"]
        text = chance.choice(often if chance.random() < OFTEN else sometimes)
        try:
            made = _one(kind, text, chance, variants, share)
        except (SceneError, subprocess.CalledProcessError):
            continue  # a voice that is not installed, or cannot say the phrase
        if made is not None:
            count -= 1
            yield made


def _one(
    kind: RecordingKind,
    text: str,
    chance: random.Random,
    variants: tuple[str, ...],
    without_espeak: float,
) -> Said | None:
    tune = chance.choice(synthetic_phrases.CONTOURS)
    if chance.random() >= without_espeak or text.startswith("[["):
        voice = f"{chance.choice(synthetic_phrases.ACCENTS)}+{chance.choice(variants)}"
        speed = chance.randint(120, 220)
        if chance.random() < LENGTHENED:
            speed = max(80, round(speed * chance.uniform(0.45, 0.7)))
        wave = speech_source.spoken(text + tune, voice, speed, chance.randint(5, 95))
    elif chance.random() < 0.75:
        voice = chance.choice(FLITE)
        wave = _flite(text + tune, voice, chance.uniform(0.75, 1.6), chance.uniform(80, 240))
    else:
        voice = chance.choice(FESTIVAL)
        wave = _festival(text + tune, voice)
    onset, end = speech_source.edges(wave)
    wave = wave[onset:end]
    if len(wave) < RATE_HZ // 25:
        return None
    return Said(kind, text, voice, (wave * (LOUDEST / np.abs(wave).max())).astype(np.float32))


def _flite(text: str, voice: str, stretch: float, pitch_hz: float) -> Wave:
    command = ["flite", "-voice", voice, "--setf", f"duration_stretch={stretch:.2f}",
               "--setf", f"int_f0_target_mean={pitch_hz:.0f}", "-t", text,
               "-o", "/dev/stdout"]  # fmt: skip
    return _wave(subprocess.run(command, capture_output=True, check=True).stdout)


def _festival(text: str, voice: str) -> Wave:
    command = ["text2wave", "-eval", f"(voice_{voice})"]
    return _wave(
        subprocess.run(command, input=text.encode(), capture_output=True, check=True).stdout
    )


def _wave(wav: bytes) -> Wave:
    wave, rate = soundfile.read(io.BytesIO(wav), dtype="float32")
    if not len(wave) or not np.abs(wave).max():
        raise SceneError("It makes no sound.")
    resampled: Wave = soxr.resample(wave, rate, RATE_HZ)
    return resampled


def kept(cache: Path, count: int, seed: int, *, held: bool = False) -> list[Said]:
    """The clips, from the cache or made now."""
    path = cache / f"said-{count}-{seed}{'-held' if held else ''}.pickle"
    if not path.is_file():
        made = list(clips(count, seed, held=held))
        path.write_bytes(pickle.dumps([(s.kind, s.text, s.voice, s.wave) for s in made]))
    return [Said(*each) for each in pickle.loads(path.read_bytes())]  # noqa: S301 -- our own file
