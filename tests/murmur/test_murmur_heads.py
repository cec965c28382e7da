"""The head learns what separates the classes; its threshold and its report count people."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest

from appliance.errors import ModelError
from appliance.onnx_session import open_session
from tests import skips
from tests.murmur.test_murmur_graph import WIDTH, tiny
from training.murmur import graph
from training.murmur.features import AGES_MS, ENCODER
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
    for age in AGES_MS:
        values = chance.standard_normal((COUNT, WIDTH)) + 4 * np.eye(3, WIDTH)[kind]
        features[f"{age}/h2/1"] = values.astype(np.float16)
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
        np.full(COUNT, 760),
        features,
    )


def test_a_head_separates_what_its_features_separate() -> None:
    head = heads.train(a_set(), np.ones(COUNT, bool), layers=(2,))
    other = a_set(1)
    score = heads.scores(head, other, AGES_MS[-1])
    assert heads.area(score[other.kind == 0], score[other.kind == 1]) > 0.9


def test_the_same_seeds_give_the_same_head() -> None:
    first, second = (heads.train(a_set(), np.ones(COUNT, bool), layers=(2,)) for _ in range(2))
    for a, b in zip(first.networks, second.networks, strict=True):
        assert all((x == y).all() for x, y in zip(a, b, strict=True))


def test_the_threshold_lets_that_share_of_calls_through_each_source_alike() -> None:
    some = a_set()
    head = heads.train(some, np.ones(COUNT, bool), layers=(2,))
    limit = heads.threshold(head, some, AGES_MS[0], 0.1)
    score = heads.scores(head, some, AGES_MS[0])
    over = [
        np.mean(score[(some.kind == 1) & (some.source == s)] > limit) for s in ("words", "orders")
    ]
    assert np.mean(over) == pytest.approx(0.1, abs=0.03)


def test_a_burst_that_ended_early_has_no_score() -> None:
    some = a_set()
    head = heads.train(some, np.ones(COUNT, bool), layers=(2,))
    some.heard_ms[5] = 400
    assert np.isfinite(heads.scores(head, some, 300)[5])
    assert np.isnan(heads.scores(head, some, 480)[5])


def test_the_file_holds_encoder_head_and_thresholds(tmp_path: Path) -> None:
    head = heads.train(a_set(), np.ones(COUNT, bool), layers=(2,))
    onnx.save(graph.in_8_bits(graph.encoder(tiny())), str(tmp_path / ENCODER))
    limits = dict.fromkeys(AGES_MS, 1.5)
    for name in ("a.onnx", "b.onnx"):
        train.save(head, limits, tmp_path / ENCODER, tmp_path / name)
    assert (tmp_path / "a.onnx").read_bytes() == (tmp_path / "b.onnx").read_bytes()
    session = open_session(tmp_path / "a.onnx", "the network of murmurs")
    assert judged.thresholds(session.get_modelmeta().custom_metadata_map) == limits
    [value] = session.run([graph.OUTPUT], {"mel": np.zeros((1, 80, 50), np.float32)})
    assert value.shape == (1,)


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
        scores=np.array([[1.0, 1, 1], [1, 1, 1], [1, 1, -1], [1, 1, np.nan]]),
        on=np.array([[True, True, True], [True, True, True], [True, True, False], [True] * 3]),
        verdict_on=np.array([1.0, 0.0, np.nan, 1.0]), noise=np.zeros(4),
    )  # fmt: skip
    assert report.row("yeah", some, np.ones(4, bool)).startswith(
        "| yeah | 3 | 2, 3 | 100.0% | 100.0% | 66.7% ("
    )
