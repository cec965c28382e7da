"""Training a head for a model of another size, from the corpus to usable files, on little data."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from appliance.voice.head.speech_head import SpeechHead
from lab.bench.model_weights import write
from tests import skips
from tests.lab.bench.tiny_model import TINY

torch = pytest.importorskip("torch", reason=skips.TRAINING)
pytest.importorskip("scipy", reason=skips.TRAINING)
pytestmark = pytest.mark.process  # takes seconds of CPU time

# The graph of Gemma 4 E2B, with embeddings for each layer and shared keys, in a smaller size.
SHAPE = replace(TINY, layers=8)
SENTENCES = (
    "The moon is cold.", "Rivers run to the sea.", "Trees drink the rain.", "It is warm today.",
    "Ants are strong.", "The sun is a star.",
)  # fmt: skip
HELD_OUT = "The sea is cold."


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(SHAPE, tmp_path_factory.mktemp("model"), [*SENTENCES, HELD_OUT])[0]


@pytest.fixture(scope="module")
def trained(model: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The work folder, and the folder with the finished head."""
    from training.speech_head import corpus, learn_codec, learn_frames, learn_phones
    from training.speech_head.ship import ship
    from training.speech_head.texts import Texts

    work, into = (tmp_path_factory.mktemp(name) for name in ("work", "head"))
    texts = Texts({}, {}, list(SENTENCES), [HELD_OUT], [], [])
    corpus.build(texts, len(SENTENCES), model, work, 0, 1)
    learn_codec.train(work)
    learn_phones.train(work, 3)
    learn_frames.train(work, 3)
    ship(work, model, into)
    return work, into


def test_the_states_have_the_shape_of_the_model(model: Path, trained: tuple[Path, Path]) -> None:
    from training.speech_head import corpus

    _, rows, arrays = corpus.load(trained[0])
    assert {r["text"] for r in rows if r["kind"] == "made"} >= set(SENTENCES[:1])
    assert arrays["states"].shape[1:] == (7, SHAPE.width)
    assert np.isfinite(arrays["states"].astype(np.float32)).all()


def test_the_head_speaks_the_states_of_the_model(trained: tuple[Path, Path]) -> None:
    from training.speech_head import corpus

    _, rows, arrays = corpus.load(trained[0])
    states = arrays["states"][: rows[0]["tokens"]].astype(np.float32)
    head = SpeechHead(trained[1])
    assert (head.layers, head.width) == (6, SHAPE.width)
    stream = head.begin()
    stream.push(states[:, 1:], states[:, 0])
    stream.end()
    frames: list[Any] = stream.frames()
    assert stream.over
    assert all(frame.samples.shape == (head.frame_samples,) for frame in frames)


def test_a_word_is_spoken_at_its_last_token_and_mismatched_pieces_are_refused() -> None:
    from training.speech_head.corpus import laid
    from training.speech_head.teacher import Said

    none = np.zeros(0, np.float32)
    said = [Said(["Zurich", " is", "."], [[("z", 0.1)], [("i", 0.1)], [("_", 0.2)]], *[none] * 3)]
    assert laid(["Z", "ur", "ich", " ", "is", "."], said) == [
        [], [], [("z", 0.1)], [], [("i", 0.1)], [("_", 0.2)],
    ]  # fmt: skip
    assert laid(["Z", "ur", "ich", " is"], said) is None  # a piece is missing
    assert laid(["Zurichs", " is", "."], said) is None
    assert laid(["Zurich", " is", ".", "!"], said) is None
