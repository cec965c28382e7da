"""The verbs of the lab: `interlude demo`, `rehearse` and `bench`, which need a checkout."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from appliance.cli.arguments import LAB_VERBS, Verbs, positive_number

if TYPE_CHECKING:
    from appliance.settings import Settings

ReadSettings = Callable[[argparse.Namespace], "Settings"]


def add_verbs(verbs: Verbs, settings: ReadSettings) -> None:
    """Add demo, rehearse and bench with their arguments."""
    demonstrated = verbs.add(
        "demo", LAB_VERBS["demo"], lambda args: _demo(args, settings(args)), runs_as="caller"
    )
    demonstrated.add_argument(
        "--voice",
        default="",
        metavar="NAME",
        help="voice of the box (`interlude voices list`; head: the model's speech head)",
    )
    example = "example:\n  interlude rehearse kitchen.yaml garden.yaml --report out"
    rehearsed = verbs.add(
        "rehearse", LAB_VERBS["rehearse"], lambda args: _rehearse(args, settings(args)), example,
        runs_as="caller",
    )  # fmt: skip
    rehearsed.add_argument(
        "scene", type=Path, nargs="+", metavar="SCENE", help="file of a scene (YAML)"
    )
    for room in (demonstrated, rehearsed):
        room.add_argument(
            "--report",
            type=Path,
            metavar="DIR",
            help="write report.json, room.wav, room.ogg and timeline.png into it",
        )
    example = "example:\n  interlude bench stop --events 60 --json stop.json"
    measured = verbs.add(
        "bench",
        LAB_VERBS["bench"],
        lambda args: _bench(args, settings(args)),
        example,
        runs_as="caller",
    )
    measured.add_argument(
        "name",
        nargs="?",
        default="",
        metavar="NAME",
        help="name of the bench; without it, list them",
    )
    measured.add_argument(
        "--events",
        type=positive_number,
        metavar="N",
        help="number of events (default: the bench's own)",
    )
    measured.add_argument(
        "--json", type=Path, metavar="FILE", help="also write every event to FILE"
    )
    measured.add_argument(
        "--recordings",
        type=Path,
        metavar="DIR",
        help="recordings in folders <class or word>/*.flac|wav",
    )
    measured.add_argument(
        "--seed", type=int, default=1, metavar="N", help="seed of the random numbers (1)"
    )
    measured.add_argument(
        "--speakers", choices=("held-out", "all"), help="whose recordings; default: those "
        "that no training used, or all of a folder of your own",
    )  # fmt: skip
    measured.add_argument(
        "--voice", dest="voices", action="append", default=[], metavar="NAME",
        help="voice of the box (repeat it to measure with several); default: that of the settings",
    )  # fmt: skip
    measured.add_argument(
        "--part", dest="parts", action="append", default=[], metavar="PART",
        help="only this part (may be repeated) of interruption: stop, seam, cost, over, people, "
        "pauses, article, moments; of model: memory, opening, reading, drawing, threads, "
        "attention, batches, sequence, abort, encoder, transcripts, recall, taps; of answer with "
        "--weights: this, patch, streaming, judge, article, soak; of echo: a canceller; of head: "
        "pocket, real; of peers: a system",
    )  # fmt: skip
    measured.add_argument(
        "--judge", choices=("pocketsphinx", "sherpa"), default="pocketsphinx", help="of voices: "
        "the recogniser that transcribes them; sherpa takes the folder of its model as --model",
    )  # fmt: skip
    measured.add_argument(
        "--install", action="store_true", help="of peers: first install the programs that are "
        "compared from PyPI, into a folder of their own (750 MB)",
    )  # fmt: skip
    _interruption_options(measured.add_argument_group("bench interruption, bench peers"))
    _model_options(
        measured.add_argument_group("bench model, bench answer, bench bakeoff, bench codec")
    )


def _interruption_options(group: argparse._ArgumentGroup) -> None:
    effort = group.add_mutually_exclusive_group()
    effort.add_argument(
        "--quick", dest="effort", action="store_const", const="quick", default="default",
        help="two minutes on two cores",
    )  # fmt: skip
    effort.add_argument(
        "--full", dest="effort", action="store_const", const="full", help="takes hours"
    )
    group.add_argument(
        "--worst",
        type=positive_number,
        default=0,
        metavar="N",
        help="name the N worst clips of each kind",
    )
    group.add_argument(
        "--owner-language", choices=("en", "de"), default="en", help="language of the words over "
        "the box, offline; other than English they are spoken by espeak-ng",
    )  # fmt: skip
    group.add_argument(
        "--pictures", type=Path, metavar="DIR", help="draw the figures as PNG files into DIR"
    )


def _model_options(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--weights", type=Path, metavar="DIR",
        help="keep the synthetic weights (3.5 GiB; of a codec 0.5 GiB) in DIR and use them again "
        "the next time; of answer: measure a model of full size (e2b: with weights that are "
        "deleted at the end)",
    )  # fmt: skip
    group.add_argument(
        "--model", type=Path, metavar="FILE",
        help="a Gemma 4 (GGUF), or a codec's manifest, instead of synthetic weights",
    )  # fmt: skip
    group.add_argument("--audio", type=Path, metavar="FILE", help="audio encoder of --model (GGUF)")
    group.add_argument(
        "--candidate", dest="candidates", type=Path, nargs="+", action="append", default=[],
        metavar="FILE", help="of bakeoff, once for each model: a GGUF and its audio encoder, or a "
        "file of LiteRT-LM (.litertlm)",
    )  # fmt: skip


def _demo(args: argparse.Namespace, settings: Settings) -> int:
    from lab.sim import rehearsal_cli

    return rehearsal_cli.demo(args.report, settings, args.voice)


def _rehearse(args: argparse.Namespace, settings: Settings) -> int:
    from lab.sim import rehearsal_cli

    return rehearsal_cli.rehearse(args.scene, args.report, settings)


def _bench(args: argparse.Namespace, settings: Settings) -> int:
    from lab.bench.benches import BenchOptions, run

    options = BenchOptions(
        settings, args.events, args.recordings, args.seed, args.speakers,
        args.effort, args.worst, args.pictures, tuple(args.parts),
        args.model, args.audio, args.weights, tuple(map(tuple, args.candidates)),
        tuple(args.voices), args.owner_language, args.judge, install=args.install,
    )  # fmt: skip
    return run(args.name, options, args.json)
