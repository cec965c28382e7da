"""Reading a stop off the loudspeaker's track, and the tables of many. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from appliance.pcm import AUDIBLE, RATE_HZ, Samples
from lab.bench.benches import SPREAD, FigureTable, spread

MS = RATE_HZ // 1000
BEFORE = 50 * MS  # audible in this stretch before the word, or the box was not speaking
GAP = 10 * MS  # silent for so long already when it was stopped: a gap of its own speech
WITHIN = RATE_HZ  # of the word's onset, or it was missed
HELD = 50 * MS  # a stop lasts at least so long; a dropout does not. A verdict may come in 100 ms
CLIP_FRAMES = 200 * MS  # of the track before the onset that are read

SILENT, GAPPED = "not audible", "in a gap"


@dataclass
class StopMeasurement:
    """One word over a box that talks. Samples from the word's true onset, but for `silent`.

    left_out  why it does not count, or ""
    missed    the box went on talking
    last      one past the last audible sample
    decided   the first sample after those by which it decided (ours only)
    silent    card index from which it was silent
    """

    left_out: str = ""
    missed: bool = False
    last: int | None = None
    decided: int | None = None
    silent: int = -1

    def moved(self, by: int) -> StopMeasurement:
        """With `silent` counted from another zero."""
        return replace(self, silent=self.silent + by) if self.silent >= 0 else self

    def as_data(self) -> dict[str, Any]:
        """Milliseconds, for the tables and the JSON."""
        data = asdict(self)
        data.pop("silent")
        for name in ("last", "decided"):
            value = data.pop(name)
            data[f"{name}_ms"] = None if value is None else value / MS
        return data


def read_stop(track: Samples, onset: int, silent: Sequence[int]) -> StopMeasurement:
    """What became of a word that begins at `onset` of the track.

    `silent`: where the box fell silent on purpose (or ran dry), in order. It does not count when
    the box was not audible in the 50 ms before the word, or was stopped in them (by a breath before
    it), or when what was due at the stop was a gap of its own speech, over 10 ms long: nobody can
    hear when that was stopped.
    """
    loud = np.abs(track.astype(np.int32)) > AUDIBLE
    if not loud[onset - BEFORE : onset].any():
        return StopMeasurement(left_out=SILENT)
    early = (at for at in silent if onset - BEFORE < at <= onset)
    if any(not loud[at : onset + HELD].any() for at in early):
        return StopMeasurement(left_out=SILENT)
    stops = (at for at in silent if onset < at <= onset + WITHIN)
    stop = next((at for at in stops if not loud[at : at + HELD].any()), None)
    if stop is None:
        return StopMeasurement(missed=True)
    last = int(np.flatnonzero(loud[:stop])[-1]) + 1
    if stop - last > GAP:
        return StopMeasurement(left_out=GAPPED, silent=stop)
    return StopMeasurement(last=last - onset, silent=stop)


def sheets(found: Mapping[str, Sequence[dict[str, Any]]], noisy: int | None) -> list[FigureTable]:
    """The tables: the stop, ours and the article's, and the parts of ours."""
    columns = ("", *SPREAD, "missed", "left out")
    stop = FigureTable("Stop: true onset → last audible sample, ms", columns)
    parts = FigureTable("Its parts, ms", columns)
    for room, events in found.items():
        for by, word in (("ours", "synthetic"), ("ours", "real"),
                         ("article", "synthetic"), ("article", "real")):  # fmt: skip
            mine = [e for e in events if (e["by"], e["word"]) == (by, word)]
            if mine:
                _rows(f"{by}, {word}, {room}", mine, stop, parts)
            clear = [e for e in mine if not e.get("click")]
            if len(clear) < len(mine):
                _rows(f"{by}, {word} without clicks, {room}", clear, stop, parts)
        stop.events += [{"room": room} | event for event in events]
    stop.notes.append(
        f"Left out: {SILENT}, the box was not audible in the 50 ms before the word; {GAPPED}, over "
        "10 ms of its own speech's silence ended in the stop."
    )
    if noisy is None:
        stop.notes.append("No real words: no folder of recordings (--recordings DIR).")
    else:
        stop.notes.append(
            f"Real words: whole clips at −26 dBFS; the onset is the first sample over −40 dB of "
            f"the peak. {noisy} clips whose noise is over that within 20 ms, or louder than the "
            "room before the word, were not used. Without clicks: without the clips in which that "
            "sample lies in a click or a breath, with 20 ms of silence before the word."
        )
    return [stop, parts]


def _rows(
    name: str, events: Sequence[dict[str, Any]], stop: FigureTable, parts: FigureTable
) -> None:
    reasons = Counter(e["left_out"] for e in events if e["left_out"])
    out = ", ".join(f"{count} {why}" for why, count in reasons.items()) or "0"
    missed = sum(e["missed"] for e in events)
    counted = [e for e in events if e["last_ms"] is not None]
    stop.rows.append((name, *spread([e["last_ms"] for e in counted]), missed, out))
    known = [e for e in counted if e["decided_ms"] is not None]
    if known:
        room = name.removeprefix("ours, ")
        heard = [e["decided_ms"] for e in known]
        machine = [e["last_ms"] - e["decided_ms"] for e in known]
        parts.rows.append((f"onset → decided, {room}", *spread(heard), "", ""))
        parts.rows.append((f"machine part, {room}", *spread(machine), "", ""))
