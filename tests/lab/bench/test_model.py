"""`bench model` on tiny synthetic weights, through the same processes as at full size."""

from __future__ import annotations

import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from appliance.errors import ModelError
from lab.bench.benches import BenchError, BenchOptions
from lab.bench.model import MEMORY_OF_FILES, bench, check_memory
from lab.bench.model_memory import available
from lab.bench.model_shape import E2B
from lab.bench.model_tables import TITLES
from lab.bench.model_weights import size
from tests.lab.bench.tiny_model import SETTINGS


def test_invalid_options_are_errors(files: tuple[Path, Path]) -> None:
    options = BenchOptions(SETTINGS)
    with pytest.raises(BenchError, match=r"no part `memry`\. There are memory, opening"):
        bench(replace(options, parts=("memry",)))
    with pytest.raises(BenchError, match="both of its files"):
        bench(replace(options, model=files[0]))
    with pytest.raises(ModelError, match="nowhere: cannot be read"):
        bench(replace(options, model=Path("nowhere"), audio=files[1]))


@pytest.mark.process
def test_a_failed_part_is_reported_with_its_error(files: tuple[Path, Path], tmp_path: Path) -> None:
    damaged = tmp_path / "damaged.gguf"
    damaged.write_bytes(files[0].read_bytes()[:10_000])
    options = BenchOptions(SETTINGS, model=damaged, audio=files[1], parts=("recall",))
    with pytest.raises(BenchError, match=r"part `recall` ended with code 66: .* is not a model"):
        bench(options)


@pytest.mark.process
def test_an_interrupted_run_shows_the_parts_measured_so_far(files: tuple[Path, Path]) -> None:
    # Restores the handler of SIGINT, which a shell may have set to be ignored.
    code = (
        "import runpy, signal\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "runpy.run_module('appliance', run_name='__main__', alter_sys=True)"
    )
    command = [sys.executable, "-c", code, "bench", "model", "--events", "1"]
    options = ["--part", "recall", "--part", "opening"]
    options += ["--model", str(files[0]), "--audio", str(files[1])]
    with subprocess.Popen(
        command + options, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as run:
        assert run.stdout is not None
        assert run.stderr is not None
        assert [run.stderr.readline(), run.stderr.readline()] == ["recall\n", "opening\n"]
        run.send_signal(signal.SIGINT)
        printed = run.stdout.read()
    assert TITLES["recall"] in printed
    assert TITLES["opening"] not in printed
    assert "Ended early" in printed


# ── free memory ──────────────────────────────────────────────────────────────────────────────
def test_a_machine_with_too_little_free_memory_is_refused(tmp_path: Path) -> None:
    meminfo = tmp_path / "meminfo"
    meminfo.write_text("MemTotal:  8000000 kB\nMemAvailable:  5000000 kB\nHugePages_Total:  0\n")
    with pytest.raises(BenchError, match=r"takes 5\.9 GiB of memory, and 4\.8 GiB are free\. End"):
        check_memory(size(E2B), available(meminfo))
    meminfo.write_text("MemTotal:  8000000 kB\nMemAvailable:  7000000 kB\n")
    check_memory(size(E2B), available(meminfo))
    assert available() > 0
    assert size(E2B) * MEMORY_OF_FILES == pytest.approx(6 * 2**30, rel=0.05)
