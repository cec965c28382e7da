"""The second judge, through sherpa-onnx's real loader, with a tiny model made by the tests."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from appliance.settings import load_defaults
from lab.bench import voices
from lab.bench.benches import BenchError, BenchOptions
from lab.bench.judge_sherpa import SherpaJudge
from tests.hear.tiny_transducer import OKAY_HZ, WAIT_HZ, make, tone


def test_the_judge_transcribes_each_sound_independently_of_the_last(tmp_path: Path) -> None:
    make(tmp_path)
    judge = SherpaJudge(tmp_path)
    gap = tone(0.0, 0.5, level=0.0)
    both = np.concatenate([gap, tone(WAIT_HZ, 0.4), gap, tone(OKAY_HZ, 0.4), gap])
    assert judge.heard(both) == ["wait", "okay"]
    assert judge.heard(np.concatenate([gap, tone(OKAY_HZ, 0.4), gap])) == ["okay"]


def test_a_folder_with_a_missing_or_duplicate_file_is_refused(tmp_path: Path) -> None:
    files = make(tmp_path)
    (tmp_path / "decoder-2.onnx").write_bytes(b"")
    with pytest.raises(BenchError, match="2 files of the name decoder"):
        SherpaJudge(tmp_path)
    (tmp_path / "decoder-2.onnx").unlink()
    files["tokens"].unlink()
    with pytest.raises(BenchError, match="0 files of the name tokens"):
        SherpaJudge(tmp_path)


def test_an_unknown_judge_and_one_without_a_model_are_refused() -> None:
    for judge in ("sherpa", "parrot"):
        with pytest.raises(BenchError, match=judge):
            voices.writer_of(BenchOptions(load_defaults(), judge=judge))
