"""The list of benches, their options, and their printed and saved output."""

from __future__ import annotations

import importlib
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import soundfile

from appliance.__main__ import main
from appliance.errors import RecordingError, StorageError, VoiceError
from appliance.pcm import RATE_HZ
from appliance.settings import load_defaults
from lab.bench.benches import (
    BENCHES,
    EFFORTS,
    PARTS_MIN,
    BenchError,
    BenchOptions,
    find,
    how_long,
    measured,
    spread,
    write_json,
)
from lab.bench.interruption import PARTS
from lab.sim.corpus import held_out

OPTIONS = BenchOptions(load_defaults())


@pytest.mark.parametrize("name", [bench.name for bench in BENCHES])
def test_every_listed_bench_has_a_module(name: str) -> None:
    assert callable(importlib.import_module(f"lab.bench.{name}").bench)


def test_a_bench_without_a_name_lists_them_all(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench"]) == 0
    printed = capsys.readouterr().out
    assert all(bench.name in printed for bench in BENCHES)


def test_an_unknown_bench_is_an_error_that_suggests_the_nearest(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["bench", "stp"]) == 64
    assert capsys.readouterr().err == ("interlude: There is no bench `stp`. Did you mean `stop`?\n")
    with pytest.raises(BenchError, match="There are stop, interruption, "):
        find("zzz")


@pytest.mark.process
def test_a_bench_prints_and_saves_its_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    json_file = tmp_path / "ring.json"
    assert main(["bench", "ring", "--events", "20", "--json", str(json_file)]) == 0
    printed = capsys.readouterr().out
    assert "Load average" in printed
    saved = json.loads(json_file.read_text())
    assert [row[0] for row in saved["sheets"][0]["rows"]] == [
        "ring", "Unix socket", "multiprocessing.Queue",
    ]  # fmt: skip
    assert all(row[5] == 20 for row in saved["sheets"][0]["rows"])


@pytest.mark.process
def test_a_bench_with_speech_has_tables_for_each_voice() -> None:
    options = replace(OPTIONS, parts=("cost",), effort="quick", voices=("hibari", "espeak"))
    titles = [sheet.title for sheet in measured(find("interruption"), options)]
    assert len(titles) > 2
    assert [title.endswith("(the box's voice: hibari)") for title in titles] == [
        place < len(titles) / 2 for place in range(len(titles))
    ]
    assert titles[-1].endswith("(the box's voice: espeak)")


def test_an_unknown_voice_and_a_voice_for_a_bench_without_speech_are_refused() -> None:
    with pytest.raises(VoiceError, match="no voice `nobody`"):
        next(measured(find("echo"), replace(OPTIONS, voices=("hibari", "nobody"))))
    with pytest.raises(BenchError, match="does not speak"):
        next(measured(find("vad"), replace(OPTIONS, voices=("hibari",))))


def test_figures_that_cannot_be_written_are_a_storage_error(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="cannot be written"):
        write_json(tmp_path / "nowhere" / "ring.json", {})


def test_the_duration_is_the_sum_of_the_parts_and_empty_if_unknown() -> None:
    complete, partial = (how_long(find("interruption"), replace(OPTIONS, parts=parts))
                   for parts in ((), ("stop", "seam")))  # fmt: skip
    assert int(complete.split()[0]) > int(partial.split()[0]) >= 1
    assert complete == find("interruption").takes
    assert how_long(find("interruption"), replace(OPTIONS, effort="quick")) == EFFORTS["quick"]
    assert how_long(find("stop"), OPTIONS) == find("stop").takes
    assert how_long(find("stop"), replace(OPTIONS, events=20)) == ""
    assert how_long(find("model"), OPTIONS) == find("model").takes
    assert how_long(find("model"), replace(OPTIONS, parts=("recall",))) == ""
    assert set(PARTS_MIN) == set(PARTS)


def test_a_spread_has_percentiles_the_maximum_and_the_count() -> None:
    assert spread([float(value) for value in range(101)]) == (50.0, 95.0, 99.0, 100.0, 101)
    assert spread([]) == ("–", "–", "–", "–", 0)


def test_a_given_recordings_folder_must_contain_recordings(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match="holds no FLAC or WAV"):
        BenchOptions(load_defaults(), recordings=tmp_path).recorded()
    write_word(tmp_path / "stop" / "anna_0.flac")
    sources, problems = BenchOptions(load_defaults(), recordings=tmp_path).recorded()
    assert [source.name for source in sources] == ["stop/anna_0"]
    assert problems == []


def test_the_default_recordings_may_be_absent(tmp_path: Path) -> None:
    assert replace(OPTIONS, default_recordings=tmp_path / "nowhere").recorded() == ([], [])


def test_from_the_default_folder_only_held_out_speakers_are_used(tmp_path: Path) -> None:
    options = replace(OPTIONS, default_recordings=tmp_path)
    for speaker in range(20):
        write_word(tmp_path / "stop" / f"speaker{speaker}_0.flac")
    used = {source.speaker for source in options.recorded()[0]}
    all_sources = replace(options, speakers="all").recorded()[0]
    assert 0 < len(used) < len(all_sources) == 20
    assert all(held_out(speaker) for speaker in used)


def write_word(path: Path) -> None:
    path.parent.mkdir(exist_ok=True)
    soundfile.write(path, np.sin(np.arange(RATE_HZ // 2) * 0.3) / 2, RATE_HZ)
