"""`interlude bench head`: heads with random weights, and the time of each frame."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from appliance.settings import load_defaults
from appliance.voice.head.speech_head import SpeechHead
from lab.bench import head
from lab.bench.benches import BenchError, BenchOptions
from lab.bench.codec_on_pi import head as parts_of_head
from lab.bench.codec_on_pi import mimi
from lab.bench.head_weights import BOOKS, E2B, PHONES_A_TOKEN, HeadSizes, write
from tests.voice.head.spoken import SHIPPED

pytestmark = pytest.mark.process
SMALL = HeadSizes(
    width=16, layers=2, symbols=12, slots=8, token=24, spell=24, phone=16, point=8, frame=32,
    frame_blocks=2,
)  # fmt: skip


@pytest.mark.parametrize("form", ["fp32", "int8"])
def test_a_random_head_has_the_pace_of_the_teacher(tmp_path: Path, form: str) -> None:
    for name in ("codec.json", "codec.onnx"):
        (tmp_path / name).write_bytes((SHIPPED / name).read_bytes())
    codec = tmp_path / "codec.json"
    speech_head = SpeechHead(write(tmp_path, codec, form, 1, SMALL))  # type: ignore[arg-type]
    rng, stream = np.random.default_rng(0), speech_head.begin()
    for _ in range(10):
        stream.push(
            rng.standard_normal((1, 2, 16)).astype(np.float32),
            rng.standard_normal((1, 16)).astype(np.float32),
        )
    stream.end()
    frames = stream.frames()
    assert len(frames) == pytest.approx(10 * PHONES_A_TOKEN * 0.0625 / 0.08, rel=0.1)
    assert [frame.token for frame in frames] == sorted(frame.token for frame in frames)
    assert len(frames[0].codes) == BOOKS
    assert len({tuple(frame.codes) for frame in frames}) > 1


def test_the_sizes_match_the_recipe() -> None:
    """training/speech_head/README.md counts 18.4, 11.5 and 29.2 M, including norms and biases."""
    counted = (E2B.reader, E2B.phones, E2B.frames)
    assert [round(count / 1e6, 1) for count in counted] == [18.4, 11.4, 29.2]


def test_the_shipped_head_is_timed() -> None:
    (sheet,) = head.bench(BenchOptions(load_defaults(), events=5, parts=("pocket",)))
    ((name, *figures),) = sheet.rows
    assert (name, figures[-1]) == ("pocket", 5)
    assert all(float(figure) > 0 for figure in figures[:-2])


def test_an_unknown_part_is_refused() -> None:
    with pytest.raises(BenchError, match="no part `huge`"):
        head.bench(BenchOptions(load_defaults(), parts=("huge",)))


def test_on_a_pi_a_window_is_computed_at_once_and_its_weights_are_read_once() -> None:
    phones = parts_of_head()[1]
    assert phones.products == pytest.approx(9 * phones.weights)
    assert all(part.rounds for part in parts_of_head()[:3])
    assert not any(part.name.startswith("head") for part in mimi())
