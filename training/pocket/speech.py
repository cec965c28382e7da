"""Speech synthesised by espeak-ng in many voices.

In: (text, name) pairs and a seeded generator. Out: a corpus on disk: all clips in one int16
array at 16 kHz, an index with text, name, voice and place of each, and the phones of each word.
"""

import io
import json
import subprocess
import wave
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from random import Random

import numpy as np
import soxr

from training.pocket import grammar
from training.pocket.sound import SAMPLE_RATE, Array

ACCENTS = """
en en en-us en-us en-us en-gb-x-rp en-gb-scotland en-029 en-gb-x-gbclan en-us-nyc
""".split()
# `plain` is the accent's own voice
VARIANTS = """
plain plain plain m1 m2 m4 m5 m6 m8 f1 f3 f5 f1 f3 Alex Alicia Andrea Annie Denis Diogo Gene
Henrique Hugo Jacky Lee Marco Mario Michael Mike adam anika announcer antonio aunty belinda
benjamin boris caleb david ed edward grandma grandpa gustave iven iven2 john klatt klatt2 klatt3
marcelo max michel miguel norbert pablo paul pedro quincy rob sandro shelby steph travis victor
croak whisper
""".split()
# Never trained on, in any accent; nor is the West Midlands accent, in any variant.
HELD_OUT_VARIANTS = "m3 m7 f2 f4 Andy linda steph2 robert zac Nguyen".split()
HELD_OUT_ACCENT = "en-gb-x-gbcwmd"
UNKNOWN_SHARE = 0.33


@dataclass(frozen=True)
class Voice:
    name: str  # accent+variant, as espeak-ng takes it
    speed: int  # words a minute
    pitch: int  # 0 to 99


def training_voice(r: Random) -> Voice:
    variant = r.choice(VARIANTS)
    return Voice(
        r.choice(ACCENTS) + ("" if variant == "plain" else f"+{variant}"),
        r.randint(120, 220),
        r.randint(15, 85),
    )


def held_out_voice(r: Random) -> Voice:
    accent = r.choice([*sorted(set(ACCENTS)), HELD_OUT_ACCENT, HELD_OUT_ACCENT])
    return Voice(f"{accent}+{r.choice(HELD_OUT_VARIANTS)}", r.randint(130, 205), r.randint(25, 75))


# voice generator, number of clips, and the share of requests that are drawn from tool requests only
CORPORA = {
    "train": (training_voice, 40_000, 0.0),
    "tools": (training_voice, 24_000, 0.3),
    "held_out": (held_out_voice, 2_000, 0.0),
}


def synthesise(text: str, voice: Voice) -> Array:
    """Float samples at 16 kHz, without the silence around the words."""
    how = f"-v {voice.name} -s {voice.speed} -p {voice.pitch} --stdout".split()
    command = ["espeak-ng", *how, text]
    spoken = subprocess.run(command, capture_output=True, check=True).stdout
    with wave.open(io.BytesIO(spoken)) as f:
        rate, raw = f.getframerate(), np.frombuffer(f.readframes(f.getnframes()), np.int16)
    samples: Array = soxr.resample(raw.astype(np.float32) / 32768, rate, SAMPLE_RATE)
    loud = np.flatnonzero(np.abs(samples) > 0.004)
    return samples[loud[0] : loud[-1] + 1] if len(loud) else samples


def phones(words: list[str]) -> dict[str, str]:
    """Each word's phones in General American as a string of symbols, without stress."""

    def ask(word: str) -> str:
        command = ["espeak-ng", "-q", "--ipa", "--sep=_", "-v", "en-us", word]
        said = subprocess.run(command, capture_output=True, check=True, text=True).stdout
        for mark in "ˈˌ\n ‍ː":
            said = said.replace(mark, "" if mark != " " else "_")
        return "_".join(filter(None, said.split("_")))

    with ThreadPoolExecutor(4) as pool:
        return dict(zip(words, pool.map(ask, words), strict=True))


def words(text: str) -> list[str]:
    return "".join(c if c.isalpha() or c == "'" else " " for c in text.lower()).split()


class Corpus:
    """clips[i] is float32; rows[i] is a dict of text, name and voice."""

    def __init__(self, folder: Path, name: str) -> None:
        self.samples = np.load(folder / f"{name}.npy", mmap_mode="r")
        self.rows = json.loads((folder / f"{name}.json").read_text())

    def __len__(self) -> int:
        return len(self.rows)

    def clip(self, i: int) -> Array:
        row = self.rows[i]
        clip: Array = self.samples[row["start"] : row["end"]].astype(np.float32) / 32768
        return clip


def build(
    folder: Path, name: str, pairs: list[tuple[str, str]], voices: list[Voice], endings: Random
) -> None:
    texts = [text + endings.choice(["", "", ".", "?", "!"]) for text, _ in pairs]
    with ThreadPoolExecutor(4) as pool:
        clips = list(pool.map(synthesise, texts, voices))
    place, rows = 0, []
    for (text, answer), voice, clip in zip(pairs, voices, clips, strict=True):
        rows.append(
            {
                "text": text,
                "name": answer,
                "voice": voice.name,
                "start": place,
                "end": place + len(clip),
            }
        )
        place += len(clip)
    np.save(
        folder / f"{name}.npy",
        np.clip(np.concatenate(clips) * 32768, -32768, 32767).astype(np.int16),
    )
    (folder / f"{name}.json").write_text(json.dumps(rows))
    print(f"{name}: {len(rows)} clips, {place / SAMPLE_RATE / 60:.0f} minutes", flush=True)


def pairs(count: int, r: Random, tools_share: float) -> list[tuple[str, str]]:
    table = grammar.requests()

    def draw() -> tuple[str, str]:
        if r.random() < UNKNOWN_SHARE:
            return grammar.unknown(table, r)
        ask = grammar.tool_request if r.random() < tools_share else grammar.request
        return ask(table, r)

    return [draw() for _ in range(count)]


def synthesise_corpus(folder: Path, name: str, scale: float = 1.0, seed: int = 1) -> None:
    """One of CORPORA; scale makes it smaller. `train` takes about ten core minutes."""
    folder.mkdir(parents=True, exist_ok=True)
    voice, count, tools_share = CORPORA[name]
    r = Random(f"{name} {seed}")
    said = pairs(max(8, int(count * scale)), r, tools_share)
    build(folder, name, said, [voice(r) for _ in said], r)
    known = sorted({w for text, _ in said for w in words(text)})
    phones_path(folder, name).write_text(json.dumps(phones(known)))


def phones_path(folder: Path, name: str) -> Path:
    """The phones' file of a corpus; it is written last, so it exists only for a complete one."""
    return folder / f"{name}.phones.json"
