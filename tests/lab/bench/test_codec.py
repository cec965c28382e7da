"""`interlude bench codec`: a codec is timed by its manifest; a missing one is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from appliance.errors import ModelError
from appliance.settings import load_defaults
from lab.bench import codec
from lab.bench.benches import BenchOptions
from tests.voice.head import tiny_codec

pytestmark = pytest.mark.process


def test_a_codec_is_timed_for_one_two_and_four_frames_a_call(tmp_path: Path) -> None:
    manifest = tiny_codec.write(tmp_path)
    times, sizes = codec.bench(BenchOptions(load_defaults(), events=5, model=manifest))
    assert [row[:2] for row in times.rows] == [("tiny", "1"), ("tiny", "2"), ("tiny", "4")]
    assert all(float(row[2]) > 0 and row[-1] == 5 for row in times.rows)
    files = tmp_path.iterdir()
    assert float(sizes.rows[0][2]) == round(sum(f.stat().st_size for f in files) / 2**20, 1)


def test_a_missing_codec_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="the codec is missing"):
        codec.bench(BenchOptions(load_defaults(), events=5, model=tmp_path / "none.json"))
