"""The report of a rehearsal: the outcome of each utterance, measured in both tracks."""

from __future__ import annotations

import platform
import tempfile
from collections import Counter
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from appliance import __version__
from appliance.messages.hearing import Onset, SpeechEnded, SpeechStarted, Verdict
from appliance.messages.playback import (
    Dropouts,
    PlaybackPaused,
    PlaybackResumed,
    PlaybackStarted,
    PlaybackStopped,
)
from appliance.messages.speech import Spoken
from appliance.messages.thinking import Sentence, Think, ThoughtEnded
from appliance.messages.tools import ToolAnswered
from appliance.pcm import AUDIBLE, RATE_HZ
from lab.sim import hotato_judge
from lab.sim.hotato_judge import Judgement
from lab.sim.rehearsal_recording import PlayedUtterance, RehearsalRecording
from lab.sim.seam_measure import Seam, measure_seam

T = TypeVar("T")

MS = RATE_HZ // 1000
EARLY = 150 * MS  # an onset may be detected so long before the script's, by noise before the word,
LATE = 400 * MS  # and so long after the utterance's end
BEFORE_S, AFTER_S = 3, 6  # as the moments that hotato comes with
SETTLED = 1600 * MS  # after an utterance's end: by then an answer is lost or goes on


@dataclass
class UtteranceOutcome:
    """The outcome of one utterance. `onset_s`, `end_s`: seconds from the recording's start; `_ms`:
    durations in ms. `answer_lost`: the answer under way was dropped in the end, after any pause."""

    said: str
    kind: str
    onset_s: float
    end_s: float
    over_the_box: bool
    stop_ms: float | None = None
    machine_stop_ms: float | None = None
    verdict: str | None = None
    verdict_ms: float | None = None
    outcome: str = "ignored"
    answer_lost: bool = False
    seam: dict[str, int] | None = None
    answer_ms: float | None = None
    answer_parts_ms: dict[str, float] | None = None
    answer_text: str | None = None


class RecordingReader:
    """Assigns the messages of a recording to its utterances. Indices are the track's."""

    def __init__(self, recording: RehearsalRecording, to_card: int) -> None:
        """`to_card`: added to an index in a message, gives the card's index."""
        self.recording = recording
        self.track = recording.loudspeaker
        self.shift = to_card - recording.first

    def outcomes(self) -> list[UtteranceOutcome]:
        utterances = self.recording.said
        end = self.recording.first + len(self.track)
        ends = [*(utterance.onset for utterance in utterances), end][1:]
        return [
            self._outcome(utterance, until)
            for utterance, until in zip(utterances, ends, strict=True)
        ]

    def false_pauses(self) -> int:
        """The number of pauses of an audible answer that started while the owner was silent."""
        return sum(
            not any(
                s.onset - EARLY <= p.index + self.shift + self.recording.first <= s.end + LATE
                for s in self.recording.said
            )
            for _, p in self.recording.messages_of(PlaybackPaused)
        )

    def voices(self) -> dict[str, int]:
        """The number of sentences spoken by each voice."""
        return dict(Counter(m.voice for _, m in self.all(Spoken) if m.voice))

    def seams(self) -> list[Seam]:
        """The seam of every pause after which the same answer resumed."""
        seams = []
        pauses = [m for _, m in self.recording.messages_of(PlaybackPaused)]
        resumes = [m for _, m in self.recording.messages_of(PlaybackResumed)]
        for pause in pauses:
            resume = next((r for r in resumes if r.index > pause.index), None)
            if resume and resume.turn == pause.turn and (seam := self._seam(pause, resume)):
                seams.append(seam)
        return seams

    def _outcome(self, played: PlayedUtterance, until: int) -> UtteranceOutcome:
        first = self.recording.first
        onset, end, until = played.onset - first, played.end - first, until - first
        text = played.entry.what
        out = UtteranceOutcome(
            text or "", played.entry.kind, onset / RATE_HZ, end / RATE_HZ, self._sounds(onset)
        )
        serial = self._serials(onset, end)
        if out.over_the_box:
            self._stop(out, onset, end)
            settled = min(until, end + SETTLED)
            out.answer_lost = bool(self._in(PlaybackStopped, onset - EARLY, settled))
        verdicts = [v for v in self.all(Verdict) if v[1].serial in serial]
        if verdicts:
            at, verdict = verdicts[-1]
            out.verdict, out.verdict_ms = verdict.kind, (at - onset) / MS
        starts = [m for m in self.all(SpeechStarted) if m[1].serial in serial]
        pause = self._in(PlaybackPaused, onset - EARLY, end + LATE)
        if starts:
            out.outcome = "yielded" if out.over_the_box else "ignored"
            self._answer(out, end, {m.utterance for _, m in starts}, until)
        elif pause:
            resume = next(
                (m for _, m in self.all(PlaybackResumed) if m.index >= pause[-1].index), None
            )
            if resume is not None and resume.turn == pause[-1].turn:
                out.outcome = "lost" if out.answer_lost else "resumed"
                seam = self._seam(pause[-1], resume)
                out.seam = asdict(seam) if seam else None
        return out

    def _stop(self, out: UtteranceOutcome, onset: int, end: int) -> None:
        paused = self._in(PlaybackPaused, onset - EARLY, end + LATE)
        cut = self._in(PlaybackStopped, onset - EARLY, end + LATE)
        moments = [m.index + self.shift for m in (paused or cut)]
        if not moments:
            return
        silent = moments[0]
        loud = np.flatnonzero(np.abs(self.track[:silent].astype(np.int32)) > AUDIBLE)
        last = int(loud[-1]) + 1 if len(loud) else 0
        out.stop_ms = max(0.0, (last - onset) / MS)
        onsets = [m for _, m in self.all(Onset) if m.serial == getattr(paused[0], "serial", -1)] \
            if paused else []  # fmt: skip
        if onsets:
            out.machine_stop_ms = max(0.0, (last - (onsets[0].decided + self.shift)) / MS)

    def _answer(self, out: UtteranceOutcome, end: int, utterances: set[int], until: int) -> None:
        thoughts = [m for _, m in self.all(Think) if utterances & set(m.utterances)]
        if not thoughts:
            return
        turn = thoughts[-1].turn
        sentences: list[tuple[int, Sentence | ToolAnswered]] = [
            *self.all(Sentence),
            *self.all(ToolAnswered),
        ]
        texts = sorted((at, m.number, m.text) for at, m in sentences if m.turn == turn)
        out.answer_text = " ".join(text for _, _, text in texts)
        started = next((m for _, m in self.all(PlaybackStarted) if m.turn == turn), None)
        if started is None:
            return
        start = started.index + self.shift
        loud = np.flatnonzero(
            np.abs(self.track[start : start + RATE_HZ].astype(np.int32)) > AUDIBLE
        )
        audible = start + (int(loud[0]) if len(loud) else 0)
        out.answer_ms = (audible - end) / MS
        out.outcome = "yielded" if out.over_the_box else "answered"
        ended = [at for at, m in self.all(SpeechEnded) if m.utterance in utterances and m.last]
        thought = next((m for _, m in self.all(ThoughtEnded) if m.turn == turn), None)
        parts = {"turn_end": (ended[-1] - end) / MS} if ended else {}
        if thought:
            parts |= {"encode": thought.encode_ms, "prefill": thought.prefill_ms,
                      "first_sentence": thought.first_sentence_ms}  # fmt: skip
        out.answer_parts_ms = {name: round(value, 1) for name, value in parts.items()}

    def all(self, kind: type[T]) -> list[tuple[int, T]]:
        """The messages of one class, each with the track index of its time."""
        return [(at - self.recording.first, m) for at, m in self.recording.messages_of(kind)]

    def _in(self, kind: type[Any], low: int, high: int) -> list[Any]:
        """The messages of one class whose `index` field is between two track indices."""
        return [m for _, m in self.all(kind) if low <= m.index + self.shift <= high]

    def _serials(self, onset: int, end: int) -> set[int]:
        return {m.serial for m in self._in(Onset, onset - EARLY, end + LATE)}

    def _sounds(self, onset: int) -> bool:
        """Whether the box was audible in the 100 ms before `onset`."""
        window = self.track[max(0, onset - 100 * MS) : onset]
        return bool(np.any(np.abs(window.astype(np.int32)) > AUDIBLE))

    def _seam(self, pause: PlaybackPaused, resume: PlaybackResumed) -> Seam | None:
        answer = self.recording.answers.get(pause.turn)
        if answer is None:
            return None
        at = pause.index + self.shift, resume.index + self.shift
        again = pause.position - resume.position
        return measure_seam(self.track, answer, *at, pause.position, again)


def judged(reader: RecordingReader) -> list[Judgement]:
    """hotato's judgement of each utterance over the box: murmurs and noises should not make it give
    way; empty without hotato. A moment is cut `BEFORE_S` and `AFTER_S` around the onset."""
    if not hotato_judge.is_installed():
        return []
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for out in reader.outcomes():
            if out.over_the_box:
                onset = round(out.onset_s * RATE_HZ)
                first = max(0, onset - BEFORE_S * RATE_HZ)
                tracks = reader.recording.tracks(first, onset + AFTER_S * RATE_HZ)
                expected = {"yield": out.kind in ("request", "interruption")}
                found.append(hotato_judge.judge(
                    Path(folder) / "moment.wav", tracks, (onset - first) / RATE_HZ, expected
                ))  # fmt: skip
    return found


def answers_lost(outcomes: list[UtteranceOutcome]) -> dict[str, tuple[int, int]]:
    """How many answers were lost in the end, of how many said over, by kind of utterance."""
    over = [out for out in outcomes if out.over_the_box]
    return {
        kind: (sum(out.answer_lost for out in over if out.kind == kind),
               sum(out.kind == kind for out in over))
        for kind in dict.fromkeys(out.kind for out in over)
    }  # fmt: skip


def report(reader: RecordingReader) -> dict[str, Any]:
    """The report as plain data, ready for JSON."""
    recording = reader.recording
    outcomes = reader.outcomes()
    dropouts = {m.direction: m.count for _, m in recording.messages_of(Dropouts)}
    return {
        "scene": recording.scene.name,
        "seconds": round(recording.seconds, 1),
        "answers_lost": answers_lost(outcomes),
        "utterances": [asdict(outcome) for outcome in outcomes],
        "hotato": [asdict(judgement) for judgement in judged(reader)],
        "false_pauses": reader.false_pauses(),
        "voices": reader.voices(),
        "seams": [asdict(seam) for seam in reader.seams()],
        "dropouts": {"capture": 0, "playback": 0} | dropouts,
        "processes": {
            name: {
                "cpu_s": round(cost.cpu_s, 2),
                "peak_mib": round(cost.peak_mib, 1),
                "restarts": cost.restarts,
            }
            for name, cost in recording.costs.items()
        },
        "given_up": recording.given_up,
        "versions": versions(),
    }


def versions() -> dict[str, str]:
    """The versions of the software and machine that the figures were measured with."""
    names = ("numpy", "onnxruntime", "llama-cpp-python", "pyalsaaudio")
    return {"interlude": __version__, "python": platform.python_version(),
            "machine": platform.machine(), "kernel": platform.release(),
            **{name: metadata.version(name) for name in names}}  # fmt: skip
