"""Features of bursts, by the encoder in 8 bits: `python -m training.murmur.features CACHE`.

In: bursts of `bursts.py`. Out: `CACHE/features-NAME.npz`: for each moment and layer the means of
the burst's positions, whole and in thirds of time. Bursts are encoded one at a time, since the
activations' scale is that of the whole input, and a box asks about one.
"""

from __future__ import annotations

import argparse
import itertools
import time
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnx

from appliance.hear.bargein.features import GIVEN_MS
from appliance.hear.bargein.murmur_network import AGES_MS, WHOLE
from appliance.hear.turn.log_mel import scaled_bands
from appliance.onnx_session import open_session
from appliance.pcm import RATE_HZ, Samples
from lab.sim.corpus import Role
from training.murmur import graph, weights
from training.verdict.dataset import Bursts, load

Floats = npt.NDArray[np.float32]

MOMENTS = (*map(str, AGES_MS), WHOLE)  # at which the box asks
AFTER_END_MS = 60  # of the room after a sound's end, in its window
SHORTEST_MS = 240  # of a whole sound, at which its window ends
NEVER_MS = 10_000  # for a sound that went on when the burst ended
BEFORE_MS, AFTER_MS = 20 * graph.BEFORE, 20 * graph.AFTER
PEAK = 0.5
LAYERS = (2, 3, 4)
PARTS = (1, 3)
HOP = RATE_HZ // 100  # of the mel features
BLOCK_MS = 5
QUIET = 4  # of the measures of a burst (`render.Heard`): ms since the last active block
ENCODER = "encoder.onnx"
SETS: dict[str, str] = {"training": "training", "tuning": "tuning", "test": "held-out",
                        "echo": "echo"}  # fmt: skip


def asked_ms(bursts: Bursts, moment: str) -> npt.NDArray[np.int_]:
    """The age of each burst at which its window of one of `MOMENTS` ends."""
    heard = heard_ms(bursts)
    if moment != WHOLE:
        return np.full(len(heard), int(moment))
    rows = np.arange(len(heard))
    quiet = bursts.measures[rows, bursts.steps - 1, QUIET].astype(int)
    ages = np.maximum(heard - quiet + AFTER_END_MS, SHORTEST_MS) // 20 * 20
    return np.where(quiet >= AFTER_END_MS, ages, NEVER_MS)


def window(sound: Samples, age_ms: int) -> Floats:
    """What the encoder hears `age_ms` after the onset: float32 at 16 kHz, 200 ms longer.

    sound  int16 at 16 kHz from 300 ms before the onset, as the listener gives it

    It is the sound from 140 ms before the onset to the age, at a peak of 0.5, so that the level
    tells nothing, and 60 ms of zeros.
    """
    first, last = ((GIVEN_MS + ms) * RATE_HZ // 1000 for ms in (-BEFORE_MS, age_ms))
    out = np.zeros(last - first + AFTER_MS * RATE_HZ // 1000, np.float32)
    out[: last - first] = sound[first:last]
    return out * np.float32(PEAK / (np.abs(out).max() or 1.0))


def mel(sound: Samples, age_ms: int) -> Floats:
    """The encoder's input (1, 80, T), T = (140 + age + 60) / 10."""
    wave = window(sound, age_ms)
    return scaled_bands(wave, len(wave) // HOP)[None]


def heard_ms(bursts: Bursts) -> npt.NDArray[np.int_]:
    """How long after its onset each burst was heard; its sound is zero from there on."""
    past = np.array([int(about["past_steps"]) for about in bursts.about])
    return np.asarray((past + bursts.steps) * BLOCK_MS - GIVEN_MS, np.int_)


class Encoder:
    """The encoder in 8 bits, from `cache` or built now."""

    def __init__(self, cache: Path) -> None:
        path = cache / ENCODER
        if not path.is_file():
            onnx.save(graph.in_8_bits(graph.encoder(weights.whisper(cache))), str(path))
        self._names = [f"h{layer}" for layer in LAYERS]
        self._session = open_session(path, "Whisper's encoder", also=self._names[:-1])

    def pooled(self, mels: Floats) -> dict[str, Floats]:
        """Means over the burst's positions, (parts * 384,) for each layer and number of parts."""
        out = {}
        for name, values in zip(self._names, self._session.run(self._names, {"mel": mels}),
                                strict=True):  # fmt: skip
            burst = values[0, graph.BEFORE : -graph.AFTER]
            for parts in PARTS:
                size = len(burst) // parts
                edges = [*range(0, size * parts, size), len(burst)]
                means = [burst[a:b].mean(axis=0)
                         for a, b in itertools.pairwise(edges)]  # fmt: skip
                out[f"{name}/{parts}"] = np.concatenate(means)
        return out


def features(bursts: Bursts, encoder: Encoder) -> dict[str, npt.NDArray[np.float16]]:
    """`MOMENT/LAYER/PARTS` → float16 (N, parts * 384); zeros where a burst was not heard to it."""
    out: dict[str, npt.NDArray[np.float16]] = {}
    heard = heard_ms(bursts)
    for moment in MOMENTS:
        ages = asked_ms(bursts, moment)
        for i in np.flatnonzero(heard >= ages):
            for name, values in encoder.pooled(mel(bursts.sound[i], int(ages[i]))).items():
                key = f"{moment}/{name}"
                if key not in out:
                    out[key] = np.zeros((len(heard), len(values)), np.float16)
                out[key][i] = values
    return out


def bursts_of(cache: Path, name: str) -> Bursts:
    """Bursts of a set, without those that no sound of ours made."""
    role: Role = SETS[name]  # type: ignore[assignment] # "echo" only names its files
    made = load(cache, role)
    kept = [i for i, about in enumerate(made.about) if about["origin"] != "residue"]
    return Bursts(made.sound[kept], made.measures[kept], made.steps[kept],
                  [made.about[i] for i in kept])  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("cache", type=Path)
    args = parser.parse_args()
    encoder = Encoder(args.cache)
    for name in SETS:
        path, began = args.cache / f"features-{name}.npz", time.monotonic()
        if path.is_file():
            continue
        made = features(bursts_of(args.cache, name), encoder)
        np.savez(path, **made)  # type: ignore[arg-type] # numpy's stub takes the names for options
        count = len(next(iter(made.values())))
        print(f"{path.name}: {count} bursts, {time.monotonic() - began:.0f} s", flush=True)


if __name__ == "__main__":
    main()
