"""A linear correction of the verdict, fitted to the owner's own "mm-hm" and "wait".

In: the network's outputs for the owner's recordings. Out: a linear correction of its log odds, by
regularised logistic regression, and a file with it (numbers only, no sound), mode 0600.
"""

from __future__ import annotations

import io
import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from appliance.background_file import write_private
from appliance.errors import ModelError, StorageError
from appliance.numpy_archive import read_arrays
from appliance.runtime.enrolled_files import FILE

Floats = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]

ANCHORS = Path(__file__).parents[2] / "models" / "verdict-anchors.npz"
CLASSES, EMBEDDING = 3, 64
MOST_BYTES = 65_536  # of the owner's file, which has 2 kB
# Chosen on speakers of the tuning set, by leave-one-out over their own words. With weaker
# regularisation towards the shipped network, three recordings of one word affect all others.
KEEP = 0.02  # weight of the squared weights
ANCHOR = 1.0  # weight of the shipped output on other people's sounds, against the recordings
_STEPS, _RATE = 400, 0.3


@dataclass(frozen=True)
class Adaptation:
    """log odds + weight @ embedding + bias. `model`: SHA-256 of the network that it belongs to."""

    weight: Floats
    bias: Floats
    model: str

    def adapted(self, log_odds: Floats, embedding: Floats) -> Floats:
        """The corrected log odds, from log odds (…, 3) and embeddings (…, 64)."""
        corrected: Floats = log_odds + embedding @ self.weight.T + self.bias
        return corrected


@dataclass(frozen=True)
class NetworkOutputs:
    """Outputs of the network: log odds (N, 3) and embeddings (N, 64)."""

    log_odds: Floats
    embedding: Floats


def anchors(path: Path = ANCHORS) -> NetworkOutputs:
    """Outputs for sounds of many voices, which the correction must preserve. Raises ModelError."""
    try:
        with np.load(path, allow_pickle=False) as archive:
            return NetworkOutputs(
                archive["log_odds"].astype(np.float32), archive["embedding"].astype(np.float32)
            )
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise ModelError(f"{path}: is missing or damaged.", "Install the package again.") from error


def fit(
    heard: NetworkOutputs, kind: npt.NDArray[np.int_], others: NetworkOutputs, model: str
) -> Adaptation:
    """Fit the correction that makes the classes `kind` of `heard` likelier and preserves `others`.

    Gradient descent with momentum on cross-entropy (classes weighted equally), plus the divergence
    from the shipped output on `others`, plus the squared weights. Convex; 195 numbers.
    """
    weight, bias = np.zeros((CLASSES, EMBEDDING)), np.zeros((CLASSES, 1))
    momentum_w, momentum_b = np.zeros_like(weight), np.zeros_like(bias)
    counts = np.bincount(kind, minlength=CLASSES)
    # Classes are rows here: numpy takes several times as long for a sum over a short last axis.
    embedding = np.concatenate([heard.embedding, others.embedding]).astype(np.float64)
    before = np.concatenate([heard.log_odds, others.log_odds]).T.astype(np.float64)
    target = softmax(before, axis=0)
    target[:, : len(kind)] = np.eye(CLASSES)[:, kind]
    share = np.full(len(embedding), ANCHOR / len(others.log_odds))
    share[: len(kind)] = 1.0 / (np.count_nonzero(counts) * counts[kind])
    for _ in range(_STEPS):
        error = (softmax(before + weight @ embedding.T + bias, axis=0) - target) * share
        momentum_w = 0.9 * momentum_w - _RATE * 0.1 * (KEEP * weight + error @ embedding)
        momentum_b = 0.9 * momentum_b - _RATE * 0.1 * error.sum(axis=1, keepdims=True)
        weight, bias = weight + momentum_w, bias + momentum_b
    return Adaptation(weight.astype(np.float32), bias[:, 0].astype(np.float32), model)


def load(state: Path, model: str | None = None) -> Adaptation | None:
    """Read the enrolled correction; None if there is none. Raises ModelError for a file that is
    damaged or belongs to another network than `model`, its SHA-256."""
    path = state / FILE
    if not path.exists():
        return None
    remedy = "Enrol again with `interlude enrol`."
    try:
        weight, bias, of_model = read_arrays(path, ("weight", "bias", "model"), MOST_BYTES)
    except ValueError as error:
        raise ModelError(f"{path}: is damaged.", remedy) from error
    valid = weight.shape == (CLASSES, EMBEDDING) and bias.shape == (CLASSES,)
    valid &= weight.dtype == bias.dtype == np.float32
    if not (valid and np.isfinite(weight).all() and np.isfinite(bias).all()):
        raise ModelError(f"{path}: is damaged.", remedy)
    if model is not None and str(of_model) != model:
        raise ModelError(f"{path}: belongs to another version of the network.", remedy)
    return Adaptation(weight, bias, str(of_model))


def save(adaptation: Adaptation, state: Path) -> Path:
    """Write the correction atomically, readable by its owner only. Raises StorageError."""
    path, buffer = state / FILE, io.BytesIO()
    np.savez(
        buffer, weight=adaptation.weight, bias=adaptation.bias, model=np.array(adaptation.model)
    )
    try:
        write_private(path, buffer.getvalue())
    except OSError as error:
        raise StorageError(
            f"{path}: could not be written ({error.strerror}).", "Is the disk full or read-only?"
        ) from error
    return path


def softmax(log_odds: Doubles, axis: int = -1) -> Doubles:
    """Probabilities of the three classes along `axis`."""
    weights = np.exp(log_odds - log_odds.max(axis=axis, keepdims=True))
    shares: Doubles = weights / weights.sum(axis=axis, keepdims=True)
    return shares
