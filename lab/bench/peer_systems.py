"""The systems that `interlude bench peers` compares, and what a recogniser writes of a sound."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from appliance.hear.bargein.recordings import RecordingFile
from lab.bench.interruption_trials import Spec, SynthesisedNoise
from lab.sim.people import Clip, Moment

# Hums that a recogniser leaves out: Deepgram does unless its `filler_words` are switched on.
HUMS = frozenset({"mm-hm", "mhm", "uh-huh", "hm", "[[m:]]", "aha", "oh"})
SENTENCE_FOLDER = "commands"  # recordings of sentences whose words are not listed
SENTENCE = "i would like a large coffee"  # stands for each of them: orders of coffee


@dataclass(frozen=True)
class System:
    """A row of the comparison.

    program       row of `lab.peers.program`; "": Interlude itself
    options       of the program, where they differ from its own defaults
    single_words  whether one word can interrupt it, by its settings
    writes_murmurs
                  whether its recogniser writes murmurs down at all; a perfect one would not
    """

    title: str
    program: str = ""
    options: Mapping[str, float] = field(default_factory=dict)
    single_words: bool = True
    writes_murmurs: bool = True


SYSTEMS = {
    "interlude": System("Interlude"),
    "pipecat": System("pipecat", "pipecat"),
    "pipecat-words": System("pipecat, 3 words", "pipecat", {"min_words": 3}, single_words=False),
    "livekit": System("livekit", "livekit"),
    "livekit-words": System("livekit, 2 words", "livekit", {"min_words": 2}, single_words=False),
    "livekit-perfect": System(
        "livekit, perfect recogniser", "livekit", writes_murmurs=False
    ),
    "pipecat-fast": System("pipecat, fast", "pipecat", {"start_secs": 0.1, "min_volume": 0.0}),
    "livekit-fast": System(
        "livekit, fast", "livekit", {"min_duration": 0.2, "false_interruption_timeout": 1.0}
    ),
}  # fmt: skip


def transcript(spec: Spec, *, murmurs: bool = True) -> str:
    """What a recogniser writes down of a sound; "" of noises, hums, and all murmurs without
    `murmurs`."""
    if spec.kind == "noise" or isinstance(spec, SynthesisedNoise | Clip | Moment):
        return ""
    if spec.kind == "backchannel" and not murmurs:
        return ""
    if isinstance(spec, RecordingFile):
        text = SENTENCE if spec.word == SENTENCE_FOLDER else spec.word
    else:
        text = spec.text
    return "" if text in HUMS else text
