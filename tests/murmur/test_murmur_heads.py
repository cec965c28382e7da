"""The head learns what separates the classes; its threshold and its report count people."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest

from appliance.errors import ModelError
from appliance.hear.bargein.murmur_network import WHOLE
from appliance.onnx_session import open_session
from tests import skips
from tests.murmur.test_murmur_graph import WIDTH, tiny
from training.murmur import graph
from training.murmur.features import ENCODER, MOMENTS
from training.murmur.mixture import Origin
from training.verdict.dataset import Bursts

pytest.importorskip("sklearn", reason=skips.TRAINING)
pytest.importorskip("torch", reason=skips.TRAINING)  # of training.verdict.examples

from training.murmur import heads, judged, report, train

COUNT = 240


def a_set(seed: int = 0) -> heads.Set:
    """Bursts whose class shifts the features; three people a class."""
    chance = np.random.default_rng(seed)
    kind = np.arange(COUNT) % 3
    features = {}
    for moment in MOMENTS:
        values = chance.standard_normal((COUNT, WIDTH)) + 4 * np.eye(3, WIDTH)[kind]
        features[f"{moment}/h2/1"] = values.astype(np.float16)
    source = np.where(np.arange(COUNT) % 2, "words", "orders")
    who = np.array([f"p{i % 9}" for i in range(COUNT)])
    empty = Bursts(np.zeros((0, 0), np.int16), np.zeros((0, 0, 5), np.float16),
                   np.zeros(0, np.int32), [])  # fmt: skip
    return heads.Set(
        empty,
        kind,
        source,
        source,
        who,
        who,
        np.arange(COUNT) % 4 < 2,
        {moment: np.ones(COUNT, bool) for moment in MOMENTS},
        features,
    )


def test_a_head_separates_what_its_features_separate() -> None:
    head = heads.train(a_set(), np.ones(COUNT, bool), layers=(2,))
    other = a_set(1)
    score = heads.scores(head, other, WHOLE)
    assert heads.area(score[other.kind == 0], score[other.kind == 1]) > 0.9
    noise = heads.noise_scores(head, other, WHOLE)
    assert heads.area(noise[other.kind == 2], noise[other.kind != 2]) > 0.9


def test_the_same_seeds_give_the_same_head() -> None:
    first, second = (heads.train(a_set(), np.ones(COUNT, bool), layers=(2,)) for _ in range(2))
    for a, b in zip(first.networks, second.networks, strict=True):
        assert all((x == y).all() for x, y in zip(a, b, strict=True))


@pytest.mark.parametrize("moment", [MOMENTS[0], WHOLE])
def test_the_threshold_lets_that_share_of_calls_through_each_source_alike(moment: str) -> None:
    some = a_set()
    head = heads.train(some, np.ones(COUNT, bool), layers=(2,))
    limit, score = heads.threshold(head, some, moment), heads.scores(head, some, moment)
    over = [
        np.mean(score[(some.kind == 1) & (some.source == s)] > limit) for s in ("words", "orders")
    ]
    one = 1 / np.sum((some.kind == 1) & (some.source == "words"))  # a call's share of its source
    assert np.mean(over) == pytest.approx(heads.RESUMED[moment], abs=one)


def test_a_burst_that_ended_early_has_no_score() -> None:
    some = a_set()
    head = heads.train(some, np.ones(COUNT, bool), layers=(2,))
    some.heard["480"][5] = False
    assert np.isfinite(heads.scores(head, some, "300")[5])
    assert np.isnan(heads.scores(head, some, "480")[5])
    assert np.isnan(heads.noise_scores(head, some, "480")[5])


def test_the_file_holds_encoder_head_and_thresholds(tmp_path: Path) -> None:
    head = heads.train(a_set(), np.ones(COUNT, bool), layers=(2,))
    onnx.save(graph.in_8_bits(graph.encoder(tiny())), str(tmp_path / ENCODER))
    limits = dict.fromkeys(MOMENTS, 1.5)
    for name in ("a.onnx", "b.onnx"):
        train.save(head, limits, tmp_path / ENCODER, tmp_path / name)
    assert (tmp_path / "a.onnx").read_bytes() == (tmp_path / "b.onnx").read_bytes()
    session = open_session(tmp_path / "a.onnx", "the network of murmurs")
    assert judged.thresholds(session.get_modelmeta().custom_metadata_map) == limits
    [value] = session.run([graph.OUTPUT], {"mel": np.zeros((1, 80, 50), np.float32)})
    assert value.shape == (2,)


def test_a_file_without_thresholds_is_refused() -> None:
    with pytest.raises(ModelError, match="no thresholds"):
        judged.thresholds({})


def test_a_speaker_is_a_person_wherever_the_recording_is() -> None:
    names = [Origin("meetings A+B", "FEO070_tst00-1-ov", narrow=False),
             Origin("meetings A+B", "FEO070_tst00-9-alone", narrow=True),
             Origin("meetings A+B", "ami-en2002b-bc-1", narrow=False)]  # fmt: skip
    assert [judged.person(each) for each in names] == ["FEO070", "FEO070", "meetings A+B"]


def test_a_row_counts_bursts_people_and_recordings() -> None:
    some = judged.Judged(
        kind=np.array(["backchannel"] * 4), source=np.array(["murmurs"] * 4),
        word=np.array(["yeah"] * 4), person=np.array(["a", "a", "b", "b"]),
        recording=np.array(["1", "2", "3", "3"]), narrow=np.zeros(4, bool),
        scores=np.array([[1.0, 1, 1, 1], [1, 1, 1, -1], [1, 1, -1, np.nan], [1, 1, np.nan, 1]]),
        on=np.array([[True] * 4, [True, True, True, False], [True, True, False, False],
                     [True] * 4]),
        noisy=np.zeros((4, 4)), verdict_on=np.array([1.0, 0.0, np.nan, 1.0]), noise=np.zeros(4),
    )  # fmt: skip
    row = report.row("yeah", some, np.ones(4, bool))
    assert row.startswith("| yeah | 3 | 2, 3 | 100.0% | 100.0% | 66.7% (")
    assert "| 66.7% (3) |" in row
