"""Fits our own last layer to smart-turn's network: `python -m training.turn.head IN.onnx OUT.onnx`.

In: the file of Pipecat's wheel. Out: the same graph with one more output, `over`: a logistic layer
on the 384 values that its encoder pools over time. The encoder and its own output stay as they are.
"""

from __future__ import annotations

import argparse
import hashlib
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

from appliance.errors import ModelError
from appliance.hear.bargein import recordings
from appliance.hear.turn.log_mel import log_mel
from lab.sim import corpus
from training.turn.examples import examples

Floats = npt.NDArray[np.float64]

UPSTREAM = "2bb026316b14a660486a75b1733cd3fbab8c2fd0314dc9af7be49f8cca967e4f"  # SHA-256
POOLED, THEIRS, OURS = "sum_1", "logits", "over"
WIDTH = 384
RIDGE = 100.0  # 30 to 1000 gave the same accuracy in cross-validation
FOLDS = 5
_STEPS = 25  # of Newton's method; it converges in ten


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("upstream", type=Path)
    asked.add_argument("out", type=Path)
    asked.add_argument("--recordings", type=Path, required=True)
    asked.add_argument("--seed", type=int, default=3)
    given = asked.parse_args()
    data = given.upstream.read_bytes()
    if hashlib.sha256(data).hexdigest() != UPSTREAM:
        raise ModelError(f"{given.upstream}: is not smart-turn v3.2's file for a CPU.")
    model = onnx.load_from_string(data)
    sources = corpus.of_speakers(recordings.find(given.recordings).sources, "training")
    pooled, theirs, over, material, fold = gather(model, given.seed, sources)
    scores = np.zeros(len(over))
    for each in range(FOLDS):
        weights, bias = fit(pooled[fold != each], over[fold != each])
        scores[fold == each] = pooled[fold == each] @ weights + bias
    for name in sorted(set(material.tolist())):
        own = material == name
        before, after = area(theirs[own], over[own]), area(scores[own], over[own])
        print(f"{name}: n {own.sum()}, area under the curve {before:.3f}, with the head, "
              f"cross-validated, {after:.3f}")  # fmt: skip
        for wanted in (0.5, 0.8, 0.9, 0.95, 0.98):
            sure = scores[own] >= np.log(wanted / (1 - wanted))
            ends, pauses = sure[over[own]], sure[~over[own]]
            shares = [f"{each.mean():.3f}" if len(each) else "-" for each in (ends, pauses)]
            print(f"  {wanted} or more: {shares[0]} of ends, {shares[1]} of pauses")
    weights, bias = fit(pooled, over)
    onnx.save(with_head(model, weights, bias), str(given.out))
    print(f"{given.out}: {hashlib.sha256(given.out.read_bytes()).hexdigest()}")


def gather(
    model: onnx.ModelProto, seed: int, sources: list[recordings.RecordingFile]
) -> tuple[Floats, Floats, npt.NDArray[np.bool_], npt.NDArray[Any], npt.NDArray[Any]]:
    """For each example: pooled values, upstream's score, whether it is over, material and fold."""
    open_graph = onnx.ModelProto()
    open_graph.CopyFrom(model)
    open_graph.graph.output.append(helper.make_tensor_value_info(POOLED, TensorProto.FLOAT, None))
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(open_graph.SerializeToString(), options)
    rows = []
    for each in examples(sources, seed):
        pooled, score = session.run(
            [POOLED, THEIRS], {"input_features": log_mel(each.samples)[None]}
        )
        fold = zlib.crc32(each.group.encode()) % FOLDS
        rows.append((pooled[0], float(score[0, 0]), each.over, each.material, fold))
    columns = list(zip(*rows, strict=True))
    return (np.array(columns[0], float), np.array(columns[1]), np.array(columns[2]),
            np.array(columns[3]), np.array(columns[4]))  # fmt: skip


def fit(pooled: Floats, over: npt.NDArray[np.bool_]) -> tuple[Floats, float]:
    """Weights (384,) and bias of a logistic regression with equal weight of both classes."""
    mean, spread = pooled.mean(axis=0), pooled.std(axis=0) + 1e-3
    rows = np.column_stack([(pooled - mean) / spread, np.ones(len(pooled))])
    counts = np.where(over, 0.5 / over.mean(), 0.5 / (1 - over.mean()))
    ridge = RIDGE * np.eye(rows.shape[1])
    ridge[-1, -1] = 0.0
    weights = np.zeros(rows.shape[1])
    for _ in range(_STEPS):
        chances = 1 / (1 + np.exp(-np.clip(rows @ weights, -30, 30)))
        slope = rows.T @ (counts * (chances - over)) + ridge @ weights
        bend = (rows * (counts * chances * (1 - chances))[:, None]).T @ rows + ridge
        weights -= np.linalg.solve(bend, slope)
    inner = weights[:-1] / spread
    return inner, float(weights[-1] - inner @ mean)


def with_head(model: onnx.ModelProto, weights: Floats, bias: float) -> onnx.ModelProto:
    """A copy of the graph with the output `over`, float32 (N, 1): a probability."""
    out = onnx.ModelProto()
    out.CopyFrom(model)
    graph = out.graph
    for kept in (graph.node, graph.output, graph.initializer):
        for old in [each for each in kept if each.name.startswith(OURS)]:
            kept.remove(old)
    graph.initializer.append(
        numpy_helper.from_array(weights.astype(np.float32)[:, None], f"{OURS}.weights")
    )
    graph.initializer.append(numpy_helper.from_array(np.array([bias], np.float32), f"{OURS}.bias"))
    inputs = [POOLED, f"{OURS}.weights", f"{OURS}.bias"]
    graph.node.append(helper.make_node("Gemm", inputs, [f"{OURS}.logit"], name=f"{OURS}.gemm"))
    graph.node.append(
        helper.make_node("Sigmoid", [f"{OURS}.logit"], [OURS], name=f"{OURS}.sigmoid")
    )
    graph.output.append(helper.make_tensor_value_info(OURS, TensorProto.FLOAT, [None, 1]))
    onnx.checker.check_model(out)
    return out


def area(scores: Floats, over: npt.NDArray[np.bool_]) -> float:
    """Area under the ROC curve; nan if there is only one class."""
    ends, pauses = scores[over], scores[~over]
    if not len(ends) or not len(pauses):
        return float("nan")
    return float(
        np.mean(ends[:, None] > pauses[None]) + 0.5 * np.mean(ends[:, None] == pauses[None])
    )


if __name__ == "__main__":
    main()
