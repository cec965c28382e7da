"""Judges bursts with the shipped files: the network of murmurs, and beside it the verdict's.

In: bursts of a set, `murmur.onnx`. Out: for each burst its score at each age, whether the box would
go on by either network.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from appliance.errors import ModelError
from appliance.hear.bargein.murmur_network import AGES_MS
from appliance.hear.bargein.network import MODEL as VERDICT
from appliance.onnx_session import open_session
from appliance.settings import load_defaults
from training.murmur import graph
from training.murmur.features import MOMENTS, asked_ms, bursts_of, heard_ms, mel
from training.murmur.mixture import Origin
from training.verdict import evaluate

MODEL = Path(__file__).parents[2] / "appliance" / "models" / "murmur.onnx"
NOISE = 0.9  # probability at which the verdict's network is sure of a noise

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Judged:
    """Bursts (N,) and what both networks make of them.

    kind, source, word, person, recording, narrow   labels, as strings
    scores     (N, moments): log odds of a murmur by murmur.onnx; nan where the burst was not heard
    on         (N, moments): the score is over the threshold of its moment
    noisy      (N, moments): log odds of a noise by murmur.onnx
    verdict_on (N,): the verdict's network goes on, by its own rule; nan where it listens on
    noise      (N,): probability of a noise by the verdict's network, at the last age
    """

    kind: npt.NDArray[np.str_]
    source: npt.NDArray[np.str_]
    word: npt.NDArray[np.str_]
    person: npt.NDArray[np.str_]
    recording: npt.NDArray[np.str_]
    narrow: Bools
    scores: Floats
    on: Bools
    noisy: Floats
    verdict_on: Floats
    noise: Floats


def judged(cache: Path, name: str, model: Path = MODEL) -> Judged:
    """The bursts of a set, judged. Raises ModelError for a file without thresholds."""
    bursts = bursts_of(cache, name)
    session = open_session(model, "the network of murmurs")
    limits = thresholds(session.get_modelmeta().custom_metadata_map)
    heard = heard_ms(bursts)
    scores = np.full((2, len(heard), len(MOMENTS)), np.nan)
    for k, moment in enumerate(MOMENTS):
        ages = asked_ms(bursts, moment)
        for i in np.flatnonzero(heard >= ages):
            [both] = session.run([graph.OUTPUT], {"mel": mel(bursts.sound[i], int(ages[i]))})
            scores[:, i, k] = both
    said = evaluate.opinions(bursts, VERDICT)
    kinds, _ = evaluate.verdicts(said, load_defaults().hearing.verdict)
    origin = [Origin.of(about["who"]) for about in bursts.about]
    labels = [
        np.array([about[field] for about in bursts.about]) for field in ("kind", "origin", "word")
    ]
    return Judged(
        kind=labels[0],
        source=labels[1],
        word=labels[2],
        person=np.array([person(each) for each in origin]),
        recording=np.array([each.recording for each in origin]),
        narrow=np.array([each.narrow for each in origin]),
        scores=scores[0],
        on=scores[0] > np.array([limits[moment] for moment in MOMENTS]),
        noisy=scores[1],
        verdict_on=np.array(
            [np.nan if kind is None else kind != "interruption" for kind in kinds], float
        ),
        noise=said.odds[:, said.at(AGES_MS[-1]), 2],
    )


def thresholds(metadata: dict[str, str]) -> dict[str, float]:
    """The threshold of each moment, from the file's metadata. Raises ModelError."""
    try:
        return {moment: float(metadata[f"threshold {moment}"]) for moment in MOMENTS}
    except (KeyError, ValueError) as error:
        raise ModelError("The network of murmurs has no thresholds.") from error


def person(origin: Origin) -> str:
    """The speaker, where the recording's name begins with one (AMI's murmurs); else the group."""
    speaker = re.match(r"([FM]E[EO]\d+)_", origin.recording)
    return speaker[1] if speaker else origin.group
