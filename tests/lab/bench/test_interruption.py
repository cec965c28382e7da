"""The interruption bench as a whole: its parts, its output, and invalid options."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import numpy as np
import pytest
import soundfile

from appliance.__main__ import main
from appliance.pcm import RATE_HZ
from appliance.settings import load_defaults
from lab.bench.benches import BenchError, BenchOptions
from lab.bench.interruption import PARTS, bench, single_interrupt

SETTINGS = load_defaults()


@pytest.fixture
def recordings(tmp_path: Path) -> Path:
    folder = tmp_path / "mine"
    for word in ("yes", "stop"):
        (folder / word).mkdir(parents=True)
        wave = np.zeros(RATE_HZ)
        wave[4000:9000] = 0.4 * np.sin(np.arange(5000) * 0.11) * np.sin(np.arange(5000) * 0.006)
        soundfile.write(folder / word / "anna_0.wav", wave, RATE_HZ)
    (folder / "stop" / "broken.flac").write_bytes(b"?")
    return folder


def test_an_unknown_part_is_a_bench_error(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(BenchError, match="no part `sauce`"):
        bench(BenchOptions(SETTINGS, parts=("sauce",)))
    assert main(["bench", "interruption", "--part", "sauce"]) == 64
    assert "There are stop, seam" in capsys.readouterr().err


@pytest.mark.parametrize("folder", ["nowhere", "empty"])
def test_a_folder_without_recordings_is_a_one_line_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], folder: str
) -> None:
    (tmp_path / "empty").mkdir()
    assert main(["bench", "interruption", "--recordings", str(tmp_path / folder)]) == 66
    printed = capsys.readouterr().err
    assert printed.startswith(f"interlude: {tmp_path / folder}: ")
    assert printed.count("\n") == 1


@pytest.mark.process
@pytest.mark.timeout(300)
def test_a_complete_run_prints_its_tables_and_saves_every_event(
    tmp_path: Path, recordings: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    json_file = tmp_path / "found.json"
    words = ["bench", "interruption", "--quick", "--events", "1", "--part", "article",
             "--worst", "2", "--voice", "espeak", "--recordings", str(recordings),
             "--json", str(json_file), "--pictures", str(tmp_path / "drawn")]  # fmt: skip
    assert main(words) == 0
    saved = json.loads(json_file.read_text())
    assert len(saved["sheets"][0]["events"]) == 6
    comparison = next(sheet for sheet in saved["sheets"] if "article" in sheet["title"])
    assert {row[1] for row in comparison["rows"]} == {"article"}  # our box was not requested
    printed = capsys.readouterr().out
    assert "broken.flac: is no sound file" in printed
    assert "2 recordings of words and sentences by 1 speakers" in printed
    assert "backchannel: yes; interruption: stop." in printed.replace("\n", " ")
    assert "nothing to draw was measured" in printed


def test_every_part_is_named_in_the_commands_help(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["bench", "--help"])
    printed = capsys.readouterr().out
    assert all(part in printed for part in PARTS)


def test_the_first_interrupt_ends_the_measurement_and_a_second_is_ignored() -> None:
    before = signal.getsignal(signal.SIGINT)
    with single_interrupt():
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before
