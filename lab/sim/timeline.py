"""Draws the picture of a rehearsal: both tracks, speech probability, states and events."""

from __future__ import annotations

import itertools
import math
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
import numpy.typing as npt

from appliance.hear.aec.factory import make_canceller
from appliance.hear.onset.vad import VoiceActivityDetector
from appliance.messages.commands import StateChanged
from appliance.messages.hearing import Onset, Verdict
from appliance.messages.playback import PlaybackPaused, PlaybackResumed, PlaybackStopped
from appliance.pcm import RATE_HZ, Samples
from lab.sim.rehearsal_recording import RehearsalRecording
from lab.sim.rehearsal_report import RecordingReader, UtteranceOutcome

mpl.use("Agg")
from matplotlib import pyplot as plt  # after the choice of a backend that needs no display

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STEP = 80  # samples, 5 ms: the listener's block
INK, FAINT, PAPER = "#1d2733", "#8a96a3", "#ffffff"
OWNER, BOX, VOICE = "#0b7a75", "#c2571a", "#5b4b8a"
ROW_S = 24.0  # longest stretch of sound in one row
LAST_CAPTION = 0.8  # share of a row after which a caption is aligned to the row's end
STATES = {
    "idle": "#eef1f4",
    "listening": "#bfe3df",
    "thinking": "#d9d2ee",
    "speaking": "#f7d9c0",
    "holding": "#f3b4ae",
    "muted": "#c9ced4",
    "failed": "#8f1d1d",
}
MARKS: dict[type[Any], tuple[str, str, str]] = {  # message → (colour, line, label)
    Onset: (OWNER, ":", "onset"),
    PlaybackPaused: ("#b3261e", "-", "silent"),
    Verdict: (VOICE, "--", "verdict"),
    PlaybackResumed: ("#2e7d32", "-", "resumed"),
    PlaybackStopped: ("#6d1b12", "-", "yielded"),
}


def speech_probability(recording: RehearsalRecording) -> npt.NDArray[np.float32]:
    """The VAD's speech probability of the microphone's track, echo cancelled, every 16 ms.

    It is computed again from both tracks with the listener's canceller and VAD.
    """
    canceller = make_canceller(recording.settings.hearing.echo, STEP)
    detector = VoiceActivityDetector()
    probabilities = []
    for at in range(0, len(recording.microphone) - STEP, STEP):
        mic, played = (t[at : at + STEP] for t in (recording.microphone, recording.loudspeaker))
        probability = detector.process(canceller.cancel_echo(mic, played))
        if probability is not None:
            probabilities.append(probability)
    return np.array(probabilities, np.float32)


def draw(
    reader: RecordingReader,
    outcomes: list[UtteranceOutcome],
    probability: npt.NDArray[np.float32],
    path: Path,
) -> None:
    """Write the picture as PNG. `probability`: one value every 16 ms of the microphone's track.

    A long scene is broken into rows.
    """
    seconds = len(reader.track) / RATE_HZ
    rows = max(1, math.ceil(seconds / ROW_S))
    row_s = seconds / rows
    heights = [0.35, 2.0, 0.7, 2.0, 0.55]
    figure = plt.figure(figsize=(17, 6.1 * rows), dpi=100, facecolor=PAPER)
    grid = figure.add_gridspec(
        5 * rows, 1, height_ratios=heights * rows, hspace=0.06, top=1 - 0.45 / (6.1 * rows),
        left=0.085, right=0.995, bottom=0.01,
    )  # fmt: skip
    for row in range(rows):
        states, owner, middle, box = (figure.add_subplot(grid[5 * row + n]) for n in range(4))
        _states(states, reader, seconds)
        _wave(owner, reader.recording.microphone, OWNER, "the owner,\nas the microphone\ngets it")
        _wave(box, reader.track, BOX, "the box,\nas the loudspeaker\nplays it")
        _probability(middle, probability, seconds)
        start, stop = row * row_s, (row + 1) * row_s
        _marks([owner, middle, box], reader, start, stop)
        _captions(owner, box, outcomes, start, stop)
        for axis in (states, owner, middle, box):
            axis.set_xlim(start, stop)
            axis.tick_params(labelbottom=axis is box)
    box.set_xlabel("seconds", color=INK, size=9)
    title = f"{reader.recording.scene.name}: who has the floor"
    figure.suptitle(title, x=0.01, ha="left", color=INK, size=15)
    figure.savefig(path)
    plt.close(figure)


def _states(axis: Axes, reader: RecordingReader, seconds: float) -> None:
    _bare(axis, "state")
    changes = [(at, m.state) for at, m in reader.all(StateChanged)]
    edges = [max(0.0, at / RATE_HZ) for at, _ in changes] + [seconds]
    for (start, stop), (_, state) in zip(itertools.pairwise(edges), changes, strict=True):
        axis.axvspan(start, stop, color=STATES[state], lw=0)
        if stop - start > 0.5:
            axis.text((start + stop) / 2, 0.5, state, ha="center", va="center", size=8.5,
                      color=INK, clip_on=True)  # fmt: skip


def _wave(axis: Axes, samples: Samples, colour: str, label: str) -> None:
    _bare(axis, label)
    step = 160  # 10 ms: finer than a pixel
    blocks = samples[: len(samples) // step * step].reshape(-1, step).astype(np.float32) / 32768
    at = np.arange(len(blocks)) * step / RATE_HZ
    axis.fill_between(at, blocks.min(1), blocks.max(1), color=colour, lw=0.3)
    top = max(0.05, float(np.abs(blocks).max(initial=0)) * 1.15)
    axis.set_ylim(-top, top * 2.2)  # room for the captions above it


def _probability(axis: Axes, values: npt.NDArray[np.float32], seconds: float) -> None:
    _bare(axis, "speech\nprobability")
    axis.plot(np.linspace(0, seconds, len(values)), values, color=VOICE, lw=0.9)
    axis.axhline(0.5, color=FAINT, lw=0.6, ls=":")
    axis.set_ylim(0, 1.05)


def _marks(axes: list[Axes], reader: RecordingReader, start: float, stop: float) -> None:
    heights: dict[Any, float] = {
        Onset: 0.08,
        PlaybackPaused: 0.36,
        Verdict: 0.64,
        PlaybackResumed: 0.9,
        PlaybackStopped: 0.9,
    }
    for kind, (colour, line, label) in MARKS.items():
        for at, message in reader.all(kind):
            if kind is Onset and not message.speaking:
                continue
            index = message.index + reader.shift if hasattr(message, "index") else at
            if not start <= index / RATE_HZ < stop:
                continue
            for axis in axes:
                axis.axvline(index / RATE_HZ, color=colour, ls=line, lw=0.9, alpha=0.8)
            name = message.kind if kind is Verdict else label
            height = heights.get(kind, 0.9)
            axes[1].text(index / RATE_HZ, height, f" {name}", size=7.5, color=colour,
                         va="center", clip_on=True)  # fmt: skip


def _captions(
    owner: Axes, box: Axes, outcomes: list[UtteranceOutcome], start: float, stop: float
) -> None:
    for number, out in enumerate(outcomes):
        figures = [out.outcome]
        if out.stop_ms is not None:
            figures.append(f"silent after {out.stop_ms:.0f} ms")
        if out.seam is not None:
            figures.append(f"{out.seam['lost_samples']} samples lost")
        if out.answer_ms is not None:
            figures.append(f"answer after {out.answer_ms:.0f} ms")
        if start <= out.onset_s < stop:
            said = f"“{textwrap.fill(out.said, 28)}”\n" + textwrap.fill(", ".join(figures), 28)
            _caption(owner, out.onset_s, owner.get_ylim()[1] * 0.97, said, OWNER, (start, stop))
        at = out.end_s + (out.answer_ms or 0) / 1000
        if out.answer_text and out.answer_ms is not None and start <= at < stop:
            shown = textwrap.fill(textwrap.shorten(out.answer_text, 130, placeholder=" …"), 44)
            top = box.get_ylim()[1] * (0.97 if number % 2 == 0 else 0.8)
            _caption(box, at, top, shown, BOX, (start, stop))


def _caption(
    axis: Axes, at: float, top: float, text: str, colour: str, row: tuple[float, float]
) -> None:
    """Draw a caption from `at` on; near the row's end, one that ends with the row."""
    start, stop = row
    near_end = at > start + (stop - start) * LAST_CAPTION
    bubble = {"fc": PAPER, "ec": colour, "lw": 0.5, "pad": 2.5, "alpha": 0.9}
    axis.text(stop - 0.05 if near_end else at, top, text, bbox=bubble, va="top", size=8.5,
              color=INK, zorder=5, ha="right" if near_end else "left",
              multialignment="left")  # fmt: skip


def _bare(axis: Axes, label: str) -> None:
    axis.set_facecolor(PAPER)
    axis.set_yticks([])
    axis.set_ylabel(label, rotation=0, ha="right", va="center", color=INK, size=9)
    for side in ("top", "right", "left"):
        axis.spines[side].set_visible(False)
    axis.spines["bottom"].set_color(FAINT)
    axis.tick_params(colors=FAINT, length=2)
