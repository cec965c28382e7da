"""`interlude bench bakeoff`: compares language models that an owner has, in one table.

In: for each candidate its files: a GGUF and its audio encoder's GGUF, for llama.cpp, or one
`.litertlm`, for LiteRT-LM if its package is installed. Each runs in a process of its own. A
candidate that cannot be run has a sentence in the table's notes instead of figures.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec
import numpy as np

from lab.bench.bakeoff_job import Found, Job, litert
from lab.bench.benches import BenchError, BenchOptions, FigureTable

REPEATS = 3
COLUMNS = (
    "", "by", "prompt tokens a second", "drawn tokens a second",
    "first token of a question of 4 s, s", "resident MiB", "at most",
)  # fmt: skip
EXAMPLE = (
    "Name the files of each model: `--candidate gemma-Q4_K_M.gguf audio.gguf --candidate "
    "gemma-qat-Q4_0.gguf audio.gguf --candidate gemma.litertlm`."
)


def bench(options: BenchOptions) -> list[FigureTable]:
    """Raises BenchError without candidates, or for one with a wrong number of files."""
    if not options.candidates:
        raise BenchError("There is nothing to compare.", EXAMPLE)
    for files in options.candidates:
        if len(files) != (1 if litert(files) else 2):
            raise BenchError(f"{files[0]}: llama.cpp needs a model and its audio encoder, "
                             "LiteRT-LM one `.litertlm`.", EXAMPLE)  # fmt: skip
    sheet = FigureTable("Language models beside each other", COLUMNS, names=2)
    for files in options.candidates:
        _run(files, options, sheet)
    sheet.notes.append(
        f"Medians of {options.events or REPEATS}. 512 prompt tokens without outputs, 64 drawn. "
        "The question follows persona and tools, and nothing of it is prefilled before its end. "
        "The quality of answers is not measured: compare it by the same spoken questions."
    )
    return [sheet]


def _run(files: Sequence[Path], options: BenchOptions, sheet: FigureTable) -> None:
    by = "LiteRT-LM" if litert(files) else "llama.cpp"
    name = files[0].name
    missing = [str(path) for path in files if not path.is_file()]
    if missing:
        sheet.notes.append(f"{name}: {missing[0]} is missing.")
        sheet.rows.append((name, by, "–", "–", "–", "–", "–"))
        return
    print(name, file=sys.stderr)
    job = Job([str(path.absolute()) for path in files], options.settings,
              options.events or REPEATS, options.seed)  # fmt: skip
    command = [sys.executable, "-m", "lab.bench.bakeoff_run"]
    done = subprocess.run(command, input=msgspec.json.encode(job), capture_output=True, check=False)
    if done.returncode:
        last_line = done.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        sheet.notes.append(f"{name}: {last_line or f'ended with code {done.returncode}'}")
        sheet.rows.append((name, by, "–", "–", "–", "–", "–"))
        return
    found = msgspec.json.decode(done.stdout.splitlines()[-1], type=Found)
    rates = (found.prompt_per_s, found.drawn_per_s)
    sheet.rows.append(
        (name, by, *(round(float(np.median(rate)), 1) for rate in rates),
         round(float(np.median(found.first_token_s)), 2), round(found.resident_mib),
         round(found.peak_mib))
    )  # fmt: skip
    sheet.events.append({"candidate": name, **msgspec.to_builtins(found)})
