"""Runs the verdict's network, a small one of our own. The only file that does.

In: the blocks of a segment. Out: calibrated probabilities, every 20 ms of sound. The model's card
(`models/verdict.md`) says what it was trained on and how good it is.
"""

from __future__ import annotations

import functools
import hashlib
import logging
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from appliance.errors import ModelError
from appliance.hear.bargein import adaptation
from appliance.hear.bargein.adaptation import Adaptation
from appliance.hear.bargein.classifier import (
    IN_NETWORK,
    ClassProbabilities,
    DecisionSchedule,
    RuleClassifier,
    SegmentClassifier,
)
from appliance.hear.bargein.features import WIDTH, BlockMeasures, FeatureExtractor, Floats
from appliance.hear.bargein.segment import Segment
from appliance.hear.onset.frontend import AudioBlock
from appliance.onnx_session import open_session
from appliance.pcm import Samples

MODEL = Path(__file__).parents[2] / "models" / "verdict.onnx"
ROWS_AT_ONCE = 2  # rows of features per output, 20 ms
_UNKNOWN = ClassProbabilities(0.3, 0.4, 0.3)  # before the first output


class NetworkOutput(NamedTuple):
    """Output for 20 ms: log odds (3,), and the embedding (64,) that an owner's correction uses."""

    log_odds: Floats
    embedding: Floats


class VerdictNetwork:
    """The ONNX graph with its state: contexts of convolutions, and a recurrent layer."""

    def __init__(self, model: Path = MODEL) -> None:
        """Raises ModelError for a file that is missing or is not this network."""
        self._session = _open(model)
        shapes = {i.name: i.shape for i in self._session.get_inputs() if i.name.endswith("_in")}
        self._initial_state = {name: np.zeros(shape, np.float32) for name, shape in shapes.items()}
        self._state_outputs = [name.replace("_in", "_out") for name in self._initial_state]
        self.reset()

    def reset(self) -> None:
        self._state = self._initial_state

    def infer(self, rows: Floats) -> tuple[Floats, Floats]:
        """Log odds (T/2, 3) and embeddings (T/2, 64) of rows (T, 50), T even, which follow those of
        the last call."""
        log_odds, embedding, *states = self._session.run(
            ["log_odds", "embedding", *self._state_outputs], {"input": rows[None], **self._state}
        )
        self._state = dict(zip(self._initial_state, states, strict=True))
        return log_odds[0], embedding[0]


class NetworkClassifier:
    """Classifies by the network, with the owner's correction if there is one.

    `owner`: the correction or None; a new value applies from the next output on.
    """

    def __init__(self, network: VerdictNetwork, owner: Adaptation | None = None) -> None:
        self._network = network
        self.owner = owner
        self._features = FeatureExtractor()
        self._output: NetworkOutput | None = None

    @property
    def schedule(self) -> DecisionSchedule:
        return IN_NETWORK

    def start(self, past: Samples) -> None:
        self._features.start(past)
        self._network.reset()
        self._probability = 0.5
        self._output = None

    def process(self, block: AudioBlock, segment: Segment) -> None:
        if block.probability is not None:
            self._probability = block.probability
        self._features.push(
            block.samples,
            BlockMeasures(block.energy_db, block.floor_db, self._probability, segment.louder_db,
                    segment.quiet_ms),
        )  # fmt: skip

    def newest_output(self) -> NetworkOutput | None:
        """The network's newest output; None before the first 20 ms."""
        rows = self._features.pop_rows(ROWS_AT_ONCE)
        if len(rows):
            log_odds, embedding = self._network.infer(rows)
            self._output = NetworkOutput(log_odds[-1], embedding[-1])
        return self._output

    def correction(self) -> float:
        """As in `SegmentClassifier`, for the newest output."""
        if self.owner is None or self._output is None:
            return 0.0
        log_odds, embedding = self._output
        moved = self.owner.adapted(log_odds, embedding) - log_odds
        return float(moved[0] - moved[1])

    def probabilities(self) -> ClassProbabilities:
        output = self.newest_output()
        if output is None:
            return _UNKNOWN
        log_odds = output.log_odds
        if self.owner is not None:
            log_odds = self.owner.adapted(log_odds, output.embedding)
        return ClassProbabilities(*adaptation.softmax(log_odds.astype(np.float64)).tolist())


def make_classifier(
    state: Path | None, log: logging.Logger, model: Path = MODEL
) -> SegmentClassifier:
    """The network with the owner's correction from `state`, or the rules and a log line."""
    try:
        network = VerdictNetwork(model)
    except ModelError as error:
        log.warning("the verdict uses rules instead of its network: %s", error)
        return RuleClassifier()
    return NetworkClassifier(network, None if state is None else load_owner(state, log, model))


def load_owner(state: Path, log: logging.Logger, model: Path = MODEL) -> Adaptation | None:
    """The correction that was enrolled for this network; None, and a log line if it is unusable."""
    try:
        return adaptation.load(state, fingerprint(model))
    except ModelError as error:
        log.warning("the enrolled correction is not used: %s", error)
        return None


def fingerprint(model: Path = MODEL) -> str:
    """SHA-256 of the network that an owner's correction belongs to. Raises ModelError."""
    try:
        return hashlib.sha256(model.read_bytes()).hexdigest()
    except OSError as error:
        raise ModelError(f"{model}: cannot be read.", "Install the package again.") from error


@functools.cache
def _open(model: Path) -> Any:
    """The session, one per process: it has no state of its own, and an enrolment creates a pipeline
    for each recording."""
    session = open_session(model, "the verdict's network")
    inputs = session.get_inputs()
    outputs = [o.name for o in session.get_outputs()]
    if inputs[0].shape[-1] != WIDTH or outputs[:2] != ["log_odds", "embedding"]:
        raise ModelError(f"{model}: is a network, but not the verdict's.")
    return session
