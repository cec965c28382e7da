"""Measures a stop on the loudspeaker's track, and makes the tables of many stops. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from appliance.pcm import AUDIBLE, RATE_HZ, Samples
from lab.bench.benches import SPREAD, FigureTable, spread

MS = RATE_HZ // 1000
BEFORE = 50 * MS  # the box counts as speaking if it was audible this long before the word
GAP = 10 * MS  # longer silence just before the stop is a gap of the box's own speech
WITHIN = RATE_HZ  # a stop later than this after the onset counts as missed
HELD = 50 * MS  # least duration of a stop: dropouts are shorter, and a verdict may come in 100 ms
CLIP_FRAMES = 200 * MS  # samples of the track that are read before the onset

SILENT, GAPPED = "not audible", "in a gap"


@dataclass
class StopMeasurement:
    """The stop at one word over a talking box. Samples from the true onset, except `silent`.

    left_out  why it does not count, or ""
    missed    the box went on talking
    last      index after the last audible sample
    decided   index after the samples on which the decision is based (ours only)
    silent    index in the track or of the card from which the box was silent
    """

    left_out: str = ""
    missed: bool = False
    last: int | None = None
    decided: int | None = None
    silent: int = -1

    def moved(self, by: int) -> StopMeasurement:
        """The same with `silent` shifted by `by` samples."""
        return replace(self, silent=self.silent + by) if self.silent >= 0 else self

    def as_data(self) -> dict[str, Any]:
        """The fields for the tables and the JSON, times in ms."""
        data = asdict(self)
        data.pop("silent")
        for name in ("last", "decided"):
            value = data.pop(name)
            data[f"{name}_ms"] = None if value is None else value / MS
        return data


def read_stop(track: Samples, onset: int, silent: Sequence[int]) -> StopMeasurement:
    """Measure the stop at a word that starts at `onset` of the track.

    `silent`: sorted indices at which the box fell silent on purpose (or ran dry). The word is left
    out if the box was not audible in the 50 ms before it, or was stopped in them (as by a breath
    before the word), or if the stop fell into a gap of the box's own speech of more than 10 ms,
    where the time of the stop cannot be determined.
    """
    loud = np.abs(track.astype(np.int32)) > AUDIBLE
    if not loud[onset - BEFORE : onset].any():
        return StopMeasurement(left_out=SILENT)
    early_stops = (at for at in silent if onset - BEFORE < at <= onset)
    if any(not loud[at : onset + HELD].any() for at in early_stops):
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
    """The table of stops, ours and the article's, and that of the parts of ours."""
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
        f"Left out: {SILENT}, the box was not audible in the 50 ms before the word; {GAPPED}, the "
        "stop fell into a gap of the box's own speech of more than 10 ms."
    )
    if noisy is None:
        stop.notes.append("No real words: no folder of recordings (--recordings DIR).")
    else:
        stop.notes.append(
            f"Real words: complete clips at −26 dBFS; the onset is the first sample over −40 dB of "
            f"the peak. {noisy} clips with such a sample in their first 20 ms, or with noise "
            "louder than the room before the word, were not used. Without clicks: without the "
            "clips whose onset is a click or a breath, with 20 ms of silence before the word."
        )
    return [stop, parts]


def _rows(
    name: str, events: Sequence[dict[str, Any]], stop: FigureTable, parts: FigureTable
) -> None:
    reasons = Counter(e["left_out"] for e in events if e["left_out"])
    left_out = ", ".join(f"{count} {why}" for why, count in reasons.items()) or "0"
    missed = sum(e["missed"] for e in events)
    counted = [e for e in events if e["last_ms"] is not None]
    stop.rows.append((name, *spread([e["last_ms"] for e in counted]), missed, left_out))
    known = [e for e in counted if e["decided_ms"] is not None]
    if known:
        room = name.removeprefix("ours, ")
        heard = [e["decided_ms"] for e in known]
        machine = [e["last_ms"] - e["decided_ms"] for e in known]
        parts.rows.append((f"onset → decided, {room}", *spread(heard), "", ""))
        parts.rows.append((f"machine part, {room}", *spread(machine), "", ""))
