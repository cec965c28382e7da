"""`bench model` on synthetic weights that are tiny, through the same processes as at full size."""

from __future__ import annotations

import itertools
import json
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from appliance.__main__ import main
from appliance.errors import ModelError, StorageError
from appliance.models.local_model import Sampling
from appliance.runtime.process_table import row
from appliance.settings import load_defaults
from appliance.think.gemma import Gemma
from lab.bench import model_vocabulary
from lab.bench.benches import BenchError, BenchOptions
from lab.bench.model import MEMORY_OF_FILES, bench, check_memory, spoken_of
from lab.bench.model_abort import EARLIEST, LATEST, ended_ms, order_to_free_ms, orders
from lab.bench.model_memory import available
from lab.bench.model_parts import PARTS, Job, Measure, clip, loaded
from lab.bench.model_shape import E2B, Shape, audio_tensors, bytes_of, text_tensors
from lab.bench.model_tables import ENOUGH, TITLES, WITHOUT_WEIGHTS, sheet
from lab.bench.model_weights import SPARE_BYTES, TEXT, check_room, size, write

SETTINGS = load_defaults()
TINY = Shape(
    layers=5, shared=2, period=3, window=48, width=256, heads=2, head_window=128, head_full=256,
    inner=256, per_layer=256, vocabulary=2048, context=8192, encoder_layers=2, encoder_width=64,
    encoder_heads=2, encoder_inner=128, encoder_out=48, mels=64, channels=(8, 8),
)  # fmt: skip
ROWS = {
    "memory": [
        "before loading", "weights of its own, of no file", "context of two sequences",
        "after loading", "peak while loading", "after the opening",
        "in use: 4 s heard, 64 tokens answered", "once the turn is written down",
        "peak after loading",
    ],
    "opening": ["read", "kept on the disk", "taken back"],
    "sequence": [
        "context of one sequence", "context of two, the other holds the opening",
        "the opening put into the other",
    ],
    "abort": ["a clip of 4 s, encoded", "a clip of 12 s, encoded"],
    "transcripts": [
        "a clip of 4 s, written down", "memory beside it, at its most", "memory that stays",
    ],
    "recall": ["12 turns"],
}  # fmt: skip


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return write(TINY, tmp_path_factory.mktemp("weights"), spoken_of(SETTINGS))


@pytest.mark.process
@pytest.mark.parametrize("part", PARTS)
def test_each_part_runs_in_a_process_of_its_own_and_has_its_rows(
    part: str, files: tuple[Path, Path], tmp_path: Path
) -> None:
    kept = tmp_path / "model.json"
    given = ["--model", str(files[0]), "--audio", str(files[1]), "--json", str(kept)]
    assert main(["bench", "model", "--part", part, "--events", "1", *given]) == 0
    (found,) = json.loads(kept.read_text())["sheets"]
    assert found["title"] == TITLES[part]
    rows = [name for name, *_ in found["rows"]]
    assert [name for name in ROWS[part] if name not in rows] == []
    values = {(event["name"], event["in"]): event["values"] for event in found["events"]}
    if part == "memory":
        assert values["after loading", "MiB"] > values["before loading", "MiB"]
        assert values["weights of its own, of no file", "MiB"][0] > 1
        assert "within the thinker's budget" in found["notes"][0]
    if part == "opening":
        assert values["read", "tokens"][0] > 200
        assert values["taken back", "tokens read"] == [0]
    if part == "sequence":
        assert len([name for name in rows if name.startswith("context of ")]) == 8
    if part == "abort":
        assert all(name in (*ROWS[part], "a clip of 4 s, ended", "a clip of 12 s, ended")
                   for name in rows)  # fmt: skip


def test_what_cannot_be_measured_as_asked_is_one_sentence(files: tuple[Path, Path]) -> None:
    options = BenchOptions(SETTINGS)
    with pytest.raises(BenchError, match=r"no part `memry`\. There are memory, opening"):
        bench(replace(options, parts=("memry",)))
    with pytest.raises(BenchError, match="both of its files"):
        bench(replace(options, model=files[0]))
    with pytest.raises(ModelError, match="nowhere: cannot be read"):
        bench(replace(options, model=Path("nowhere"), audio=files[1]))


@pytest.mark.process
def test_a_part_that_fails_is_told_with_what_it_said(
    files: tuple[Path, Path], tmp_path: Path
) -> None:
    damaged = tmp_path / "damaged.gguf"
    damaged.write_bytes(files[0].read_bytes()[:10_000])
    options = BenchOptions(SETTINGS, model=damaged, audio=files[1], parts=("recall",))
    with pytest.raises(BenchError, match=r"part `recall` ended with code 66: .* is not a model"):
        bench(options)


@pytest.mark.process
def test_ended_early_it_shows_the_parts_that_were_measured(files: tuple[Path, Path]) -> None:
    # A terminal's Ctrl-C is not ignored, whoever started these tests, and how.
    code = (
        "import runpy, signal\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "runpy.run_module('appliance', run_name='__main__', alter_sys=True)"
    )
    command = [sys.executable, "-c", code, "bench", "model", "--events", "1"]
    given = ["--part", "recall", "--part", "opening"]
    given += ["--model", str(files[0]), "--audio", str(files[1])]
    with subprocess.Popen(
        command + given, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as run:
        assert run.stdout is not None
        assert run.stderr is not None
        assert [run.stderr.readline(), run.stderr.readline()] == ["recall\n", "opening\n"]
        run.send_signal(signal.SIGINT)
        printed = run.stdout.read()
    assert TITLES["recall"] in printed
    assert TITLES["opening"] not in printed
    assert "Ended early" in printed


# ── room on the machine ──────────────────────────────────────────────────────────────────────
def test_a_machine_with_too_little_free_memory_is_refused(tmp_path: Path) -> None:
    meminfo = tmp_path / "meminfo"
    meminfo.write_text("MemTotal:  8000000 kB\nMemAvailable:  5000000 kB\nHugePages_Total:  0\n")
    with pytest.raises(BenchError, match=r"takes 5\.9 GiB of memory, and 4\.8 GiB are free\. End"):
        check_memory(size(E2B), available(meminfo))
    meminfo.write_text("MemTotal:  8000000 kB\nMemAvailable:  7000000 kB\n")
    check_memory(size(E2B), available(meminfo))
    assert available() > 0
    assert size(E2B) * MEMORY_OF_FILES == pytest.approx(6 * 2**30, rel=0.05)


def test_a_disk_with_too_little_room_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match=r"take 3\.7 GiB, and 1\.0 GiB are free\. Name"):
        check_room(size(E2B), 1 << 30, tmp_path)
    check_room(1 << 30, (1 << 30) + SPARE_BYTES, tmp_path)
    with pytest.raises(StorageError, match="another disk"):
        write(replace(TINY, vocabulary=1 << 40), tmp_path / "weights", [])
    assert list((tmp_path / "weights").iterdir()) == []


def test_a_folder_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StorageError, match=r"cannot be written .* Name another folder"):
        write(TINY, tmp_path / "file" / "weights", [])


@pytest.fixture
def files_of_a_mebibyte() -> Iterator[None]:
    """The system lets this process write no larger ones."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.usefixtures("files_of_a_mebibyte")
def test_of_weights_that_could_not_be_written_nothing_stays(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="File too large"):
        write(TINY, tmp_path, spoken_of(SETTINGS))
    assert list(tmp_path.iterdir()) == []


# ── synthetic weights ────────────────────────────────────────────────────────────────────────
def test_full_size_is_that_of_the_published_files() -> None:
    """Q4_K_M of E2B: 4.65 billion numbers, 2.88 to 2.9 GiB; its audio part 586 MiB in F16."""
    numbers = sum(tensor.rows * tensor.shape[-1] for tensor in text_tensors(E2B))
    assert numbers == pytest.approx(4.65e9, rel=0.01)
    assert bytes_of(text_tensors(E2B)) / 2**30 == pytest.approx(2.89, abs=0.01)
    assert bytes_of(audio_tensors(E2B)) / 2**20 == pytest.approx(586, abs=1)


def test_weights_that_are_there_are_found_again(tmp_path: Path) -> None:
    text, audio = write(TINY, tmp_path, spoken_of(SETTINGS))
    before = text.stat().st_mtime_ns, audio.stat().st_mtime_ns
    assert text.name == TEXT
    assert write(TINY, tmp_path, []) == (text, audio)
    assert (text.stat().st_mtime_ns, audio.stat().st_mtime_ns) == before
    audio.unlink()
    write(TINY, tmp_path, [])
    assert text.stat().st_mtime_ns == before[0]
    assert audio.exists()


def test_the_model_computes_and_each_word_of_the_opening_is_one_token(
    files: tuple[Path, Path],
) -> None:
    gemma = Gemma(*files, context_tokens=512, threads=1, sampling=Sampling())
    words = gemma.tokenize(SETTINGS.thinking.persona, marks=False)
    signs = sum(SETTINGS.thinking.persona.count(sign) for sign in ".,")
    assert len(words) == len(SETTINGS.thinking.persona.split()) + signs
    gemma.evaluate(words, last=True)
    assert np.isfinite(gemma.logits()).all()
    assert gemma.logits().std() > 0.1
    assert np.isfinite(gemma.encode(clip(1, 1).samples)).all()
    gemma.close()


def test_a_vocabulary_that_its_words_do_not_fit_into_is_an_error() -> None:
    assert len(model_vocabulary.make(2048, ["a big stone"]).tokens) == 2048
    with pytest.raises(ValueError, match="do not fit into 380 tokens"):
        model_vocabulary.make(380, ["a big stone"])


# ── an encoding that is ended ────────────────────────────────────────────────────────────────
def test_orders_are_given_all_over_the_encoding() -> None:
    given = sorted(orders(60))
    assert EARLIEST <= given[0] < 0.1
    assert 0.8 < given[-1] <= LATEST
    assert max(np.diff(given)) < 0.05


def test_an_order_that_came_too_late_is_given_again_by_the_time_that_it_took(
    files: tuple[Path, Path],
) -> None:
    """As if the machine had been busy at first: a whole encoding is said to take a minute."""
    job = Job("abort", str(files[0]), str(files[1]), SETTINGS)
    numbers = itertools.count(1)
    with loaded(job) as model:
        took = list(ended_ms(model, lambda: clip(12, next(numbers)), lambda: 60.0, 4))
    assert len(took) == 4
    assert next(numbers) - 1 >= 5  # the first was over before its order


def test_the_time_is_from_the_order_and_none_is_told_of_an_encoding_that_was_over(
    files: tuple[Path, Path],
) -> None:
    job = Job("abort", str(files[0]), str(files[1]), SETTINGS)
    with loaded(job) as model:
        took_ms = order_to_free_ms(model, clip(12, 1), 0.0)
        assert took_ms is not None
        assert took_ms >= 0
        assert order_to_free_ms(model, clip(1, 2), 60.0) is None
        model.encode_ahead(clip(1, 3))  # it works again


# ── tables ───────────────────────────────────────────────────────────────────────────────────
def test_few_values_are_all_shown_and_of_many_percentiles() -> None:
    values = [float(value) for value in range(ENOUGH + 1)]
    table = sheet("recall", [Measure("x", "ms", values[:3]), Measure("y", "ms", values)])
    assert table.rows == [
        ("x", "ms", 3, "–", "–", "0, 1, 2"),
        ("y", "ms", ENOUGH + 1, "30", "57", "most 60"),
    ]


def test_memory_over_the_thinkers_budget_is_said() -> None:
    budget = row("thinker").memory_mib
    for mib, said in ((budget - 1, "within"), (budget + 1, "OVER")):
        note = sheet("memory", [Measure("in use", WITHOUT_WEIGHTS, [1.0, mib])]).notes[0]
        assert f"{mib:.0f} MiB at most: {said} the thinker's budget" in note
