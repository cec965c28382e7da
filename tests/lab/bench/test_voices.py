"""`interlude bench voices`: a row for each voice on a few sentences, and its figures."""

from __future__ import annotations

from pathlib import Path

import pytest

from appliance.settings import load
from appliance.voice.spoken_words import SpokenWord
from lab.bench import voices
from lab.bench.benches import BenchOptions
from lab.bench.voice_judge import AlignedWord
from lab.bench.voices import COLUMNS, VoiceFigures, word_errors_ms
from tests.voice import bundles
from tests.voice.quick_judge import quick_judge

REPORTED = [SpokenWord(0, 5, 0, 4000), SpokenWord(6, 12, 4800, 9600)]
ALIGNED = [AlignedWord("hello", 160, 4000), AlignedWord("music", 4640, 8000)]


def test_a_words_error_is_its_absolute_distance_from_the_alignment() -> None:
    begins, ends = word_errors_ms("Hello music.", REPORTED, ALIGNED)
    assert begins == [10.0, 10.0]
    assert ends == [0.0, 100.0]


@pytest.mark.parametrize("aligned", [[], ALIGNED[:1], [ALIGNED[1], ALIGNED[0]]])
def test_an_alignment_of_other_words_gives_no_errors(aligned: list[AlignedWord]) -> None:
    assert word_errors_ms("Hello music.", REPORTED, aligned) == ([], [])


def test_a_row_has_shares_of_words_and_seconds_and_dashes_for_missing_values() -> None:
    found = VoiceFigures(words=40, wrong=2, cpu_s=0.5, sound_s=20.0, first_ms=[10.0, 20.0])
    row = dict(zip(COLUMNS[:7], found.row("anna"), strict=False))
    assert (row["words wrong"], row["of"], row["CPU s/s"]) == ("5.0 %", 40, "0.025")
    assert (row["first p50"], row["MiB"]) == (15.0, "–")
    assert found.row("anna")[7:] == ("–",) * 6 + (0,)
    assert len(found.row("anna")) == len(COLUMNS)


@pytest.mark.process
def test_every_voice_has_a_row_and_a_broken_one_has_a_note(tmp_path: Path) -> None:
    folder = tmp_path / "models/broken"
    folder.mkdir(parents=True)
    for file in ("voice.onnx", "voice.onnx.json"):
        (folder / file).touch()
    bundles.plant(tmp_path / "voices")
    options = BenchOptions(load(None, {"state_dir": str(tmp_path)}), events=2)
    (sheet,) = voices.bench(options, quick_judge())
    broken, hibari, espeak = sheet.rows
    assert (broken[0], broken[1]) == ("broken", "–")
    assert sheet.notes[0].startswith("broken: The voice broken")
    assert hibari[0] == "hibari"
    assert float(str(hibari[1]).split()[0]) < 30
    assert hibari[2] == espeak[2] == hibari[-1] == 24
    assert 0 < float(hibari[3]) < 1
    assert 50 < float(hibari[6]) < 400
    assert float(hibari[7]) > 0
    assert float(hibari[9]) < 100
    assert (espeak[0], espeak[6], espeak[-1]) == ("espeak", "–", 0)
    assert float(espeak[4]) > 0
