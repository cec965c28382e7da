"""The compared systems, and what a recogniser writes of each sound."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from appliance.hear.bargein.recordings import RecordingFile
from lab.bench.interruption_trials import Spec, SynthesisedNoise
from lab.bench.peer_systems import SYSTEMS, transcript
from lab.peers.program import PROGRAMS
from lab.sim.people import Clip
from lab.sim.synthetic_phrases import Phrase


def recording(word: str, kind: str) -> RecordingFile:
    return RecordingFile(Path(f"{word}/anna_0.flac"), kind, word)  # type: ignore[arg-type]  # kinds of the test


def phrase(text: str, kind: str) -> Phrase:
    return Phrase(kind, text, "en-us+f2", 150, 50)  # type: ignore[arg-type]  # likewise


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        (recording("stop", "interruption"), "stop"),
        (recording("yes", "backchannel"), "yes"),
        (phrase("wait a minute", "interruption"), "wait a minute"),
        (phrase("okay", "backchannel"), "okay"),
        (phrase("mm-hm", "backchannel"), ""),
        (phrase("[[m:]]", "backchannel"), ""),
        (SynthesisedNoise("clap", 1), ""),
        (recording("cough", "noise"), ""),
    ],
)
def test_words_are_written_down_and_hums_and_noises_are_not(spec: Spec, text: str) -> None:
    assert transcript(spec) == text


def test_a_recorded_sentence_has_more_words_than_any_system_asks_for() -> None:
    asked_for = max(row.options.get("min_words", 1) for row in SYSTEMS.values())
    assert len(transcript(recording("commands", "interruption")).split()) > asked_for


def test_a_perfect_recogniser_writes_no_murmur_but_every_call() -> None:
    assert transcript(phrase("right", "backchannel"), murmurs=False) == ""
    assert transcript(phrase("no", "interruption"), murmurs=False) == "no"


def test_a_clip_of_people_has_no_known_words() -> None:
    clip = Clip("interruption", "stop", "meetings", "anna", "a", "a.flac", "CC0", "held-out",
                np.zeros(10, np.float32), narrow=False)  # fmt: skip
    assert transcript(clip) == ""


def test_every_system_is_interlude_or_runs_a_program() -> None:
    assert {row.program for row in SYSTEMS.values()} == {"", *PROGRAMS}
    assert not SYSTEMS["interlude"].program
    for row in SYSTEMS.values():
        assert row.single_words == (row.options.get("min_words", 1) == 1)
