"""The comparison of language models: measured candidates, and those that cannot run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from lab.bench.bakeoff import bench
from lab.bench.benches import BenchError, BenchOptions
from tests.lab.bench.tiny_model import SETTINGS

OPTIONS = BenchOptions(SETTINGS, events=1)


@pytest.mark.process
def test_each_candidate_is_a_row_and_one_that_cannot_run_has_a_note(
    files: tuple[Path, Path], tmp_path: Path
) -> None:
    litert, damaged = tmp_path / "gemma.litertlm", tmp_path / "damaged.gguf"
    litert.write_bytes(b"not a model")
    damaged.write_bytes(files[0].read_bytes()[:10_000])
    missing = tmp_path / "nowhere.litertlm"
    candidates = (files, (litert,), (missing,), (damaged, files[1]))
    (sheet,) = bench(replace(OPTIONS, candidates=candidates))
    measured, *others = sheet.rows
    assert list(measured[:2]) == [files[0].name, "llama.cpp"]
    assert all(float(figure) > 0 for figure in measured[2:])
    assert [row[1] for row in others] == ["LiteRT-LM", "LiteRT-LM", "llama.cpp"]
    assert all(set(row[2:]) == {"–"} for row in others)
    notes = "\n".join(sheet.notes)
    assert "gemma.litertlm: The package litert-lm-api is not installed" in notes
    assert f"{missing} is missing" in notes
    assert "is not a model that can be used" in notes


@pytest.mark.parametrize(
    ("candidates", "problem"),
    [
        ((), "nothing to compare"),
        (((Path("a.gguf"),),), "a model and its audio encoder"),
        (((Path("a.litertlm"), Path("b.gguf")),), "one `.litertlm`"),
    ],
)
def test_missing_or_invalid_candidates_are_a_bench_error(
    candidates: tuple[tuple[Path, ...], ...], problem: str
) -> None:
    with pytest.raises(BenchError, match=problem):
        bench(replace(OPTIONS, candidates=candidates))
