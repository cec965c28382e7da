"""A linear correction of the verdict, fitted to the owner's own "mm-hm" and "wait".

In: the network's answers to their recordings. Out: a linear correction of its log odds, found by
regularised logistic regression, and its file (numbers only, no sound), mode 0600.
"""

from __future__ import annotations

import io
import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from appliance.atomic_file import write_whole
from appliance.errors import ModelError, StorageError
from appliance.runtime.enrolled_files import FILE

Floats = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]

ANCHORS = Path(__file__).parents[2] / "models" / "verdict-anchors.npz"
CLASSES, EMBEDDING = 3, 64
# Chosen on speakers of the tuning part, by leave-one-out over their own words: less of a pull
# towards the shipped network, and three recordings of a word begin to count for all others.
KEEP = 0.02  # of the squared weights
ANCHOR = 1.0  # of the shipped opinion on sounds that are not the owner's, against the recordings
_STEPS, _RATE = 400, 0.3


@dataclass(frozen=True)
class Adaptation:
    """log odds + weight @ embedding + bias. `model`: SHA-256 of the network that it belongs to."""

    weight: Floats
    bias: Floats
    model: str

    def adapted(self, log_odds: Floats, embedding: Floats) -> Floats:
        """Of (…, 3) and (…, 64)."""
        out: Floats = log_odds + embedding @ self.weight.T + self.bias
        return out


@dataclass(frozen=True)
class NetworkOutputs:
    """What the network said: log odds (N, 3) and embeddings (N, 64)."""

    log_odds: Floats
    embedding: Floats


def anchors(path: Path = ANCHORS) -> NetworkOutputs:
    """Answers to sounds of many voices, whose opinions are to stay. Raises ModelError."""
    try:
        with np.load(path, allow_pickle=False) as held:
            return NetworkOutputs(
                held["log_odds"].astype(np.float32), held["embedding"].astype(np.float32)
            )
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise ModelError(f"{path}: is missing or damaged.", "Install the package again.") from error


def fit(
    heard: NetworkOutputs, kind: npt.NDArray[np.int_], others: NetworkOutputs, model: str
) -> Adaptation:
    """The correction that makes `heard` of these classes likelier and leaves `others` as they are.

    Gradient descent with momentum on cross-entropy (classes weighing alike), plus the divergence
    from the shipped opinion on `others`, plus the squared weights. Convex; 200 numbers.
    """
    weight, bias = np.zeros((CLASSES, EMBEDDING)), np.zeros(CLASSES)
    pace_w, pace_b = np.zeros_like(weight), np.zeros_like(bias)
    counts = np.bincount(kind, minlength=CLASSES)
    each = 1.0 / (np.count_nonzero(counts) * counts[kind])
    wanted = np.eye(CLASSES)[kind]
    shipped = softmax(others.log_odds.astype(np.float64))
    even = ANCHOR / len(others.log_odds)
    for _ in range(_STEPS):
        slope_w, slope_b = KEEP * weight, np.zeros(CLASSES)
        for answers, target, share in ((heard, wanted, each[:, None]), (others, shipped, even)):
            log_odds = answers.log_odds + answers.embedding @ weight.T + bias
            off = (softmax(log_odds) - target) * share
            slope_w += off.T @ answers.embedding
            slope_b += off.sum(axis=0)
        pace_w = 0.9 * pace_w - _RATE * 0.1 * slope_w
        pace_b = 0.9 * pace_b - _RATE * 0.1 * slope_b
        weight, bias = weight + pace_w, bias + pace_b
    return Adaptation(weight.astype(np.float32), bias.astype(np.float32), model)


def load(state: Path, model: str | None = None) -> Adaptation | None:
    """What was enrolled, or None if nothing was. Raises ModelError for a file that is damaged or
    belongs to another network (`model`, SHA-256)."""
    path = state / FILE
    if not path.exists():
        return None
    again = "`interlude enrol` makes it anew."
    try:
        with np.load(path, allow_pickle=False) as held:
            made = Adaptation(held["weight"], held["bias"], str(held["model"]))
        right = made.weight.shape == (CLASSES, EMBEDDING) and made.bias.shape == (CLASSES,)
        right &= made.weight.dtype == made.bias.dtype == np.float32
        right &= bool(np.isfinite(made.weight).all() and np.isfinite(made.bias).all())
    except Exception as error:  # NumPy, zipfile and zlib have no kind in common for what is damaged
        raise ModelError(f"{path}: is damaged.", again) from error
    if not right:
        raise ModelError(f"{path}: is damaged.", again)
    if model is not None and made.model != model:
        raise ModelError(f"{path}: belongs to another version of the network.", again)
    return made


def save(made: Adaptation, state: Path) -> Path:
    """Write it, whole or not at all, readable by its owner only. Raises StorageError."""
    path, packed = state / FILE, io.BytesIO()
    np.savez(packed, weight=made.weight, bias=made.bias, model=np.array(made.model))
    try:
        state.mkdir(parents=True, exist_ok=True)
        write_whole(path, packed.getvalue(), 0o600)
    except OSError as error:
        raise StorageError(
            f"{path}: could not be written ({error.strerror}).", "Is the disk full or read-only?"
        ) from error
    return path


def softmax(log_odds: Doubles) -> Doubles:
    """Probabilities of (…, 3)."""
    weights = np.exp(log_odds - log_odds.max(axis=-1, keepdims=True))
    shares: Doubles = weights / weights.sum(axis=-1, keepdims=True)
    return shares
