"""`interlude rehearse` and `interlude demo`: play scenes, print a table and write a report."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import soundfile
from rich.console import Console
from rich.table import Table

from appliance.errors import StorageError
from appliance.pcm import RATE_HZ
from appliance.runtime.enabled import HEAD
from appliance.settings import Settings, load
from appliance.voice.factory import candidates
from appliance.voice.head_weights import head_folder
from lab.sim import scene as scenes
from lab.sim.demo_page import demo_page
from lab.sim.rehearsal import Rehearsal
from lab.sim.rehearsal_recording import RehearsalRecording
from lab.sim.rehearsal_report import (
    RecordingReader,
    UtteranceOutcome,
    answers_lost,
    report,
)
from lab.sim.scene import Scene

DEMO = Path(__file__).with_name("demo.yaml")


def rehearse(paths: Sequence[Path], report_dir: Path | None, settings: Settings) -> int:
    """Play each scene and print its table; write a report to `report_dir`, for several scenes to a
    subfolder for each.

    All scenes are read before the first is played, so that an error in a later one is found at
    once. Returns 0, or 1 if a scene did not reach its end.
    """
    loaded = [scenes.load(path) for path in paths]
    ended_well = []
    for scene in loaded:
        folder = report_dir / scene.name if report_dir and len(loaded) > 1 else report_dir
        ended_well.append(play(scene, folder, settings))
    return 0 if all(ended_well) else 1


def demo(report_dir: Path | None, settings: Settings, voice: str = "") -> int:
    """Play the built-in scene. `voice`: the box's voice; "": that of the settings.

    Raises VoiceError if that voice is not installed.
    """
    if voice:
        settings = load_over(settings, {"speaking": {"voice": voice}})
        (head_folder if voice == HEAD else candidates)(settings)
    console = Console(highlight=False, soft_wrap=True)
    with demo_page(settings, lambda line: console.print(f"[bold]{line}[/]")) as page:
        options = {"during": page.print_address, "environment": page.environment}
        complete = play(
            scenes.load(DEMO), report_dir or Path("rehearsal"), page.settings, **options
        )
        page.print_past_address()
    return 0 if complete else 1


def play(scene: Scene, folder: Path | None, settings: Settings, **options: Any) -> bool:
    """Play one scene, print its table and write its files. False if it did not reach its end."""
    console = Console()
    console.print(f"[bold]{scene.name}[/]: the owner speaks {len(scene.owner)} times; "
                  "in real time, through the real processes.")  # fmt: skip
    reader = perform(scene, settings, **options)
    outcomes = reader.outcomes()
    console.print(_table(outcomes))
    for line in _summary(reader):
        console.print(line)
    if folder is not None:
        write_report(reader, outcomes, folder)
        console.print(f"Written: {folder}/report.json, room.wav, room.ogg, timeline.png")
    return not reader.recording.given_up


def perform(scene: Scene, settings: Settings, **options: Any) -> RecordingReader:
    """Play one scene on a simulated card. Returns a reader of its recording."""
    rehearsal = Rehearsal(scene, in_the_room(scene, settings), **options)
    recording = rehearsal.play()
    return RecordingReader(recording, rehearsal.index(0))


def in_the_room(scene: Scene, settings: Settings) -> Settings:
    """The settings for a rehearsal: the simulated card, no broker, and the scene's own changes."""
    gpio = "keyboard" if settings.panel.gpio == "keyboard" else "none"  # no GPIO in a simulation
    overrides = {
        "card": {"capture": "sim", "playback": "sim"},
        "link": {"broker": ""},
        "panel": {"gpio": gpio},
    }
    changed = load_over(settings, overrides)
    return load_over(changed, scene.settings)


def load_over(settings: Settings, changes: dict[str, Any]) -> Settings:
    """`settings` with nested changes, validated. Raises SettingsError."""
    return load(None, overrides=_merged(msgspec.to_builtins(settings), changes))


def _merged(base: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    return base | {
        key: _merged(base[key], value)
        if isinstance(value, dict) and isinstance(base.get(key), dict)
        else value
        for key, value in over.items()
    }


def write_report(reader: RecordingReader, outcomes: list[UtteranceOutcome], folder: Path) -> None:
    """Write report.json, room.wav, the same sound as room.ogg, which is smaller, and timeline.png.
    Raises StorageError."""
    from lab.sim import timeline  # matplotlib takes a second to import

    recording = reader.recording
    try:
        folder.mkdir(parents=True, exist_ok=True)
        text = json.dumps(report(reader), indent=2, ensure_ascii=False)
        (folder / "report.json").write_text(text + "\n", encoding="utf-8")
        frames = min(len(recording.microphone), len(recording.loudspeaker))
        tracks = np.stack([recording.microphone[:frames], recording.loudspeaker[:frames]], axis=1)
        soundfile.write(folder / "room.wav", tracks, RATE_HZ, "PCM_16")
        soundfile.write(folder / "room.ogg", tracks, RATE_HZ, "OPUS", format="OGG")
        timeline.draw(reader, outcomes, timeline.speech_probability(recording),
                      folder / "timeline.png")  # fmt: skip
    except OSError as error:
        raise StorageError(f"{folder}: cannot be written ({error.strerror or error}).") from error


def _table(outcomes: list[UtteranceOutcome]) -> Table:
    """A table that fits 80 columns; the text of the answers is in the report and the picture."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("at", justify="right", no_wrap=True)
    table.add_column("the owner", max_width=24, overflow="fold")
    for title in ("outcome", "silent", "verdict", "lost", "answer"):
        table.add_column(title, no_wrap=True)
    for outcome in outcomes:
        verdict = f"{outcome.verdict} {_ms(outcome.verdict_ms)}" if outcome.verdict else ""
        seam = outcome.seam
        lost = f"{seam['lost_samples']}+{seam['repeated_samples']}" if seam else ""
        table.add_row(f"{outcome.onset_s:.1f} s", f"“{outcome.said}”", outcome.outcome,
                      _ms(outcome.stop_ms), verdict, lost, _ms(outcome.answer_ms))  # fmt: skip
    table.caption = (
        "silent: onset → last audible sample. lost: samples lost + repeated over the pause.\n"
        "answer: end of the owner's speech → first audible sample."
    )
    table.caption_justify = "left"
    return table


def _summary(reader: RecordingReader) -> list[str]:
    recording: RehearsalRecording = reader.recording
    costs = ", ".join(
        f"{name} {100 * cost.cpu_s / recording.seconds:.1f} %"
        for name, cost in recording.costs.items()
        if recording.seconds
    )
    spoke = ", ".join(f"{name} {count}" for name, count in reader.voices().items())
    lost = ", ".join(
        f"{kind} {count} of {of}" for kind, (count, of) in answers_lost(reader.outcomes()).items()
    )
    lines = [
        f"Answers lost in the end, by what was said over them: {lost or 'none'}.",
        f"False pauses: {reader.false_pauses()}. Sentences by voice: {spoke or 'none'}.",
        f"CPU of one core: {costs}.",
    ]
    if recording.given_up:
        lines.append(f"[red]The scene did not reach its end: {recording.given_up}.[/]")
    return lines


def _ms(value: float | None) -> str:
    return "" if value is None else f"{value:.0f} ms"
