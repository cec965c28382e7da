"""Several networks in one file; these tests need torch, which only a training machine has."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from tests import skips

pytest.importorskip("torch", reason=skips.TRAINING)

from appliance.hear.bargein.features import WIDTH
from appliance.hear.bargein.network import VerdictNetwork
from training.verdict import net
from training.verdict.ensemble import cooled

ROWS = np.random.default_rng(0).normal(size=(40, WIDTH)).astype(np.float32)


def trained(where: Path, seed: int, temperature: float) -> Path:
    import torch

    torch.manual_seed(seed)
    network = net.Network(3, np.zeros(WIDTH), np.ones(WIDTH))
    np.savez(where / f"{seed}.npz", allow_pickle=False, **net.arrays(network))
    metadata = json.dumps({"words": [], "temperature": temperature})
    (where / f"{seed}.json").write_text(metadata)
    return where / f"{seed}.npz"


def exported_outputs(where: Path, weights: list[net.Arrays]) -> tuple[npt.NDArray[np.float32], ...]:
    net.export(weights, 1.0, where / "made.onnx")
    return VerdictNetwork(where / "made.onnx").infer(ROWS)


def test_two_networks_in_one_file_return_their_average(tmp_path: Path) -> None:
    first, second = (cooled(trained(tmp_path, seed, 1.0 + seed)) for seed in (1, 2))
    separate = [exported_outputs(tmp_path, [weights]) for weights in (first, second)]
    log_odds, embedding = exported_outputs(tmp_path, [first, second])
    assert log_odds == pytest.approx((separate[0][0] + separate[1][0]) / 2, abs=1e-5)
    assert embedding == pytest.approx(separate[0][1], abs=1e-5)  # that of the first network


def test_two_networks_in_one_file_keep_their_state_between_calls(tmp_path: Path) -> None:
    weights = [cooled(trained(tmp_path, seed, 1.0)) for seed in (1, 2)]
    at_once, _ = exported_outputs(tmp_path, weights)
    network = VerdictNetwork(tmp_path / "made.onnx")
    in_pieces = [network.infer(ROWS[at : at + 4])[0] for at in range(0, len(ROWS), 4)]
    assert np.concatenate(in_pieces) == pytest.approx(at_once, abs=1e-5)


def test_each_networks_log_odds_are_divided_by_its_temperature(tmp_path: Path) -> None:
    (reference, _), (softened, _) = (
        exported_outputs(tmp_path, [cooled(trained(tmp_path, 1, temperature))])
        for temperature in (1.0, 2.0)
    )
    assert softened == pytest.approx(reference / 2, abs=1e-5)
