"""`interlude bench recognise` on a few clips."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import soundfile

from appliance import settings
from appliance.pcm import RATE_HZ
from lab.bench import recognise as bench_recognise
from lab.bench.benches import BenchError, BenchOptions
from lab.sim import speech_source


@pytest.fixture
def options(tmp_path: Path) -> BenchOptions:
    for word in ("yes", "house"):
        folder = tmp_path / "recordings" / word
        folder.mkdir(parents=True)
        wave = np.concatenate(
            [np.zeros(RATE_HZ // 4), speech_source.spoken(word, "en-us", 160, 50)]
        )
        soundfile.write(folder / "somebody_0.wav", wave, RATE_HZ)
    loaded = settings.load(overrides={"state_dir": str(tmp_path)})
    return BenchOptions(loaded, events=2, recordings=tmp_path / "recordings")


@pytest.mark.long
def test_every_clip_is_counted_in_one_category(options: BenchOptions) -> None:
    sheet = bench_recognise._words(options)
    assert [(row[0], row[1]) for row in sheet.rows] == [
        (f"{origin} {kind}s", age)
        for origin in ("real", "synthetic")
        for kind in ("backchannel", "interruption")
        for age in bench_recognise.AGES_MS
    ] + [("synthetic requests to repeat", age) for age in bench_recognise.REPEAT_AGES_MS]
    for row in sheet.rows:
        assert sum(float(share) for share in row[2:8]) == pytest.approx(100, abs=0.5)
        assert row[8] == (1 if str(row[0]).startswith("real") else 2)


@pytest.mark.long
def test_a_recorded_yes_is_recognised(options: BenchOptions) -> None:
    rows = bench_recognise._words(options).rows
    shares = {(row[0], row[1]): row[2] for row in rows}
    assert shares["real backchannels", 700] == 100


def test_a_box_without_a_recogniser_is_a_bench_error(tmp_path: Path) -> None:
    none = {"state_dir": str(tmp_path), "hearing": {"words": {"recogniser": "none"}}}
    with pytest.raises(BenchError, match="recogniser"):
        bench_recognise._words(BenchOptions(settings.load(overrides=none)))
