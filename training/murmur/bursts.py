"""Renders clips as the listener hears them: `python -m training.murmur.bursts CACHE`.

In: the folder `shared`. Out: `CACHE/training-NNN.npz` and so on, as `training.verdict.dataset`
keeps bursts: by `render_echo_free` for most of training and for tuning; by `render.scene`, which
the benches use, for training's last shards and for the test without and with an echo. What is there
is kept, so that a run can be resumed.
"""

from __future__ import annotations

import argparse
import pickle
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from lab.sim import people as sounds
from lab.sim.corpus import Role
from lab.sim.people import Clip
from training.murmur import synthetic
from training.murmur.mixture import CONVERSATION, InTurn, Mixture
from training.verdict import render, render_echo_free
from training.verdict.dataset import keep
from training.verdict.render import Heard

SHARD = 25  # scenes of training, of 24 sounds each
SHARDS = 14
ECHO_SCENES = 25  # of 14 sounds each, in a shard with the box's echo and its canceller
ECHO_SHARDS = 8
TUNING_PASSES = 4
FIRST_SEED = {
    "training": 0, "training with echo": 10_000, "tuning": 20_000, "test": 40_000, "echo": 60_000,
    "again": 80_000,
}  # fmt: skip
# The test: how many clips of each source, and how often each is played.
TEST_CALLS = {"words": 400, "orders": 60, "wake words": 60}
ECHO_SHARE = 0.4  # of words, in the test with an echo
CONVERSATION_PASSES = 8  # people's murmurs and talk are few
CLIPS = "clips.pickle"


def clips_of(cache: Path, shared: Path) -> list[Clip]:
    """All clips, from the cache or loaded and synthesised now."""
    path = cache / CLIPS
    if not path.is_file():
        path.write_bytes(pickle.dumps([*sounds.recorded(shared), *synthetic.clips()]))
    loaded: list[Clip] = pickle.loads(path.read_bytes())  # noqa: S301 -- our own file
    return loaded


def clips_of_test(clips: Sequence[Clip], chance: np.random.Generator, share: float) -> list[Clip]:
    """The test's: all murmurs and noises, a part of the calls, conversations several times."""
    held = [clip for clip in clips if clip.role == "held-out"]
    made: list[Clip] = []
    for source in ("words", "orders", "wake words", "said", "kitchens"):
        for kind in ("backchannel", "interruption", "noise"):
            pool = [clip for clip in held if clip.source == source and clip.kind == kind]
            most = TEST_CALLS.get(source, len(pool)) if kind == "interruption" else len(pool)
            most = round(min(most, len(pool)) * share)
            made += [pool[i] for i in chance.permutation(len(pool))[:most]]
    talk = [clip for clip in held if clip.source in CONVERSATION]
    return made + talk * max(1, round(CONVERSATION_PASSES * share))


def play(
    clips: Sequence[Clip], role: Role, said: Sequence[Clip], seed: int,
    scene: Callable[[InTurn, int], list[Heard]],
) -> list[Heard]:  # fmt: skip
    """The bursts of all clips, scene by scene."""
    source = InTurn(clips, role, said, np.random.default_rng(seed))
    heard: list[Heard] = []
    while source.played < len(source):
        heard += scene(source, seed)
        seed += 1
    return heard


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("cache", type=Path)
    parser.add_argument("--shared", type=Path, default=sounds.SHARED)
    parser.add_argument("--shards", type=int, default=SHARDS, help="of training, 600 sounds each")
    parser.add_argument("--echo-shards", type=int, default=ECHO_SHARDS, help="350 sounds each")
    args = parser.parse_args()
    args.cache.mkdir(parents=True, exist_ok=True)
    clips = clips_of(args.cache, args.shared)
    said = {role: [clip for clip in clips if clip.source == "said" and clip.role == role
                   and clip.kind == "interruption"]
            for role in ("training", "tuning", "held-out")}  # fmt: skip
    mixture = Mixture(clips)

    def training(shard: int) -> list[Heard]:
        first = FIRST_SEED["training"] + shard * SHARD
        seeds = range(first, first + SHARD)
        return [each for seed in seeds for each in render_echo_free.scene(mixture, seed)]

    def training_with_echo(shard: int) -> list[Heard]:
        first = FIRST_SEED["training with echo"] + shard * ECHO_SCENES
        seeds = range(first, first + ECHO_SCENES)
        return [each for seed in seeds for each in render.scene(mixture, seed)]

    def tuning() -> list[Heard]:
        mine = [clip for clip in clips if clip.role == "tuning"]
        return [each for turn in range(TUNING_PASSES)
                for each in play(mine, "tuning", said["tuning"], FIRST_SEED["tuning"] + 100 * turn,
                                 render_echo_free.scene)]  # fmt: skip

    def test(name: str, share: float, *, headphones: bool) -> list[Heard]:
        mine = clips_of_test(clips, np.random.default_rng(FIRST_SEED[name]), share)
        scene = partial(render.scene, headphones=headphones)
        return play(mine, "held-out", said["held-out"], FIRST_SEED[name], scene)

    jobs: list[tuple[str, Callable[[], list[Heard]]]] = [
        (f"training-{shard:03}", partial(training, shard)) for shard in range(args.shards)
    ]
    jobs += [
        (f"training-{args.shards + shard:03}", partial(training_with_echo, shard))
        for shard in range(args.echo_shards)
    ]
    jobs.append(("tuning-000", tuning))
    jobs.append(("held-out-000", partial(test, "test", 1.0, headphones=True)))
    jobs.append(("echo-000", partial(test, "echo", ECHO_SHARE, headphones=False)))
    for name, job in jobs:
        path = args.cache / f"{name}.npz"
        if path.is_file():
            continue
        began = time.monotonic()
        heard = job()
        keep(path, heard)
        print(f"{path.name}: {len(heard)} bursts, {time.monotonic() - began:.0f} s", flush=True)


if __name__ == "__main__":
    main()
