"""Renders bursts into a data set: one file for each shard of scenes, so that a run can be resumed.

In: a cache folder, recordings. Out: `CACHE/ROLE-NNN.npz` with int16 sound (N, 17600), float16
measures (N, 160, 5) and, as JSON, the labels of each burst.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, get_args

import numpy as np
import numpy.typing as npt

from appliance.pcm import BLOCK_FRAMES
from lab.sim.corpus import Role
from training.verdict import render_echo_free, voices
from training.verdict.render import Heard, alone, scene
from training.verdict.sounds import MIX, PHRASES, Sounds

SHARD = 100  # scenes
SOUND_BLOCKS, MEASURE_BLOCKS = 220, 160
HELD_CLIPS = 1_500
CLIPS = 12_000  # synthetic phrases; each burst uses a perturbed one
AGAIN = 5_000  # clips for any seed other than 1
FIELDS = ("past_steps", "kind", "word", "origin", "who", "scene", "lead_ms", "length_ms")


@dataclass(frozen=True)
class Bursts:
    """Sound int16 (N, 17600), measures float16 (N, 160, 5), steps of each burst, and its labels."""

    sound: npt.NDArray[np.int16]
    measures: npt.NDArray[np.float16]
    steps: npt.NDArray[np.int32]
    about: list[dict[str, Any]]


def keep(path: Path, heard: list[Heard]) -> None:
    sound = np.zeros((len(heard), SOUND_BLOCKS * BLOCK_FRAMES), np.int16)
    measures = np.zeros((len(heard), MEASURE_BLOCKS, 5), np.float16)
    steps = np.zeros(len(heard), np.int32)
    for row, each in enumerate(heard):
        wave = np.concatenate(each.sound)[: sound.shape[1]]
        sound[row, : len(wave)] = wave
        kept = each.measures[:MEASURE_BLOCKS]
        measures[row, : len(kept)] = kept
        steps[row] = len(kept)
    about = [{name: getattr(each, name) for name in FIELDS} for each in heard]
    np.savez(path, sound=sound, measures=measures, steps=steps, about=json.dumps(about))


def load(cache: Path, role: Role, most: int = 1_000_000) -> Bursts:
    """All shards of a role. Raises FileNotFoundError if there are none."""
    files = sorted(cache.glob(f"{role}-*.npz"))[:most]
    if not files:
        raise FileNotFoundError(f"{cache}: no bursts of role {role}")
    shards = [np.load(file) for file in files]
    about: list[dict[str, Any]] = []
    for shard in shards:
        about += json.loads(str(shard["about"]))
    sound, measures, steps = (
        np.concatenate([s[k] for s in shards]) for k in ("sound", "measures", "steps")
    )
    return Bursts(sound, measures, steps, about)


def together(first: Bursts, second: Bursts) -> Bursts:
    return Bursts(
        np.concatenate([first.sound, second.sound]),
        np.concatenate([first.measures, second.measures]),
        np.concatenate([first.steps, second.steps]),
        first.about + second.about,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("cache", type=Path)
    parser.add_argument("--recordings", type=Path, required=True)
    parser.add_argument("--more", type=Path, help="further <word>/*.wav, training speakers only")
    parser.add_argument("--role", choices=get_args(Role), default="training")
    parser.add_argument("--shards", type=int, default=30)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--scenes", type=int, default=SHARD, help=f"of a shard, {SHARD} at most")
    parser.add_argument("--alone", action="store_true", help="the box talks, and no owner")
    parser.add_argument("--phrases", action="store_true", help="mostly synthetic ones")
    parser.add_argument(
        "--voices", type=int, nargs="+", default=[1], help="seeds of the synthetic clips"
    )
    parser.add_argument("--quick", action="store_true", help="no echo, many sounds at once")
    parser.add_argument("--headphones", action="store_true", help="no echo: twice as quick")
    args = parser.parse_args()
    args.cache.mkdir(parents=True, exist_ok=True)
    held = args.role == "held-out"
    said = []
    for seed in args.voices:
        count = HELD_CLIPS if held else CLIPS if seed == 1 else AGAIN
        said += voices.kept(args.cache, count, seed=seed, held=held)
    mix = PHRASES if args.phrases else MIX
    sounds = Sounds(args.role, args.recordings, args.more, said, mix)
    make: Callable[[Sounds, int], list[Heard]] = partial(scene, headphones=args.headphones)
    name = f"{args.role}-alone" if args.alone else args.role
    if args.alone or args.quick:
        make = alone if args.alone else render_echo_free.scene
    scenes = SHARD // 5 if args.alone else args.scenes
    for shard in range(args.first, args.first + args.shards):
        path = args.cache / f"{name}-{shard:03}.npz"
        if path.is_file():
            continue
        began = time.monotonic()
        seeds = range(shard * SHARD, shard * SHARD + scenes)
        heard = [each for seed in seeds for each in make(sounds, seed)]
        keep(path, heard)
        print(f"{path.name}: {len(heard)} bursts in {time.monotonic() - began:.0f} s", flush=True)


if __name__ == "__main__":
    main()
