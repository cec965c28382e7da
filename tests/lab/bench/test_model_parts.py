"""The parts of `bench model`: their rows and values, and the process of a part."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
import pytest

from appliance.pcm import RATE_HZ
from appliance.settings import load_defaults
from lab.bench import model
from lab.bench.benches import BenchOptions
from lab.bench.model_memory import Stopwatch
from lab.bench.model_parts import PARTS, Job, Measure, Measures, clip
from lab.bench.model_reading import NEIGHBOURS
from lab.bench.model_tables import TITLES

ROWS = {
    "memory": [
        "before loading", "weights of its own, of no file", "context of two sequences",
        "after loading", "peak while loading", "after the opening",
        "in use: 4 s heard, 64 tokens answered", "once the turn is written down",
        "peak after loading",
    ],
    "opening": ["read", "kept on the disk", "taken back"],
    "reading": [
        "all layers", "layers with keys and values", "keys and values of 392 tokens, the two ways",
        "the next token's weights, the two ways", "32 tokens drawn from there, the two ways",
    ],
    "drawing": ["llama.cpp's own bench", "an answer of the box", "the latter by the former"],
    "threads": ["1 thread, alone", "1 thread, a busy neighbour, nice 19"],
    "attention": [
        "behind 600: 10 read, flash attention", "behind 600: 10 read, without",
        "behind 900: one drawn, flash attention", "behind 900: one drawn, without",
    ],
    "batches": [
        "1 read", "15 read", "16 read", "16 read, one drawn",
        "16 read, the last by itself, one drawn",
    ],
    "sequence": [
        "context of one sequence", "context of two, the other holds the opening",
        "the opening put into the other",
    ],
    "abort": ["a clip of 4 s, encoded", "a clip of 12 s, encoded"],
    "encoder": [
        "fp32, made of the model's file", "fp32, loaded", "fp32, at its most",
        "fp32, pieces of 1 s", "fp32, pieces of 0.2 s", "fp32, after the last word, 0.98 s left",
        "llama.cpp, 4 s at once", "llama.cpp, anew each second up to 4 s",
        "fp32 against llama.cpp",
    ],
    "transcripts": [
        "a clip of 4 s, written down", "memory beside it, at its most", "memory that stays",
    ],
    "recall": ["12 turns"],
    "taps": [
        "the states of a token", "a token, drawn", "a token, drawn, and its states read",
        "the first token, drawn, and its states read",
    ],
}  # fmt: skip


# The start of a process of its own takes as long as most parts: it is the same for all of them.
ALONE = ("memory", "encoder")


def in_this_process(job: Job) -> list[Measure]:
    found = Measures()
    job = msgspec.structs.replace(job, depths=(600, 900), rounds=1)  # 3000 take a second
    PARTS[job.part](job, found)
    return list(found.rows.values())


@pytest.mark.process
@pytest.mark.parametrize("part", PARTS)
def test_each_part_has_its_rows(part: str, files: tuple[Path, Path]) -> None:
    options = BenchOptions(load_defaults(), model=files[0], audio=files[1], parts=(part,), events=1)
    (found,) = model.bench(options, None if part in ALONE else in_this_process)
    assert found.title == TITLES[part]
    rows = [str(name) for name, *_ in found.rows]
    assert [name for name in ROWS[part] if name not in rows] == []
    values = {(event["name"], event["in"]): event["values"] for event in found.events}
    if part == "memory":
        assert values["after loading", "MiB"] > values["before loading", "MiB"]
        assert values["weights of its own, of no file", "MiB"][0] > 1
        assert "within the thinker's budget" in found.notes[0]
    if part == "opening":
        assert values["read", "tokens"][0] > 200
        assert values["taken back", "tokens read"] == [0]
    if part == "reading":
        differing = [values for (_, of), values in values.items() if of == "differing bytes"]
        assert differing == [[0]] * 3
    if part == "drawing":
        llama, box = (values[name, "tokens a second"][0] for name in ROWS[part][:2])
        assert values["the latter by the former", "share"] == [pytest.approx(box / llama)]
    if part == "threads":
        assert len(rows) == 2 * len(NEIGHBOURS) * len(os.sched_getaffinity(0))
    if part == "sequence":
        assert len([name for name in rows if name.startswith("context of ")]) == 8
    if part == "taps":
        plain, tapped = (values[name, "ms"] for name in ROWS[part][1:3])
        assert len(plain) == len(tapped) > 100
    if part == "encoder":
        assert values["fp32 against llama.cpp", "percent"][0] < 0.5
    if part == "abort":
        assert all(name in (*ROWS[part], "a clip of 4 s, ended", "a clip of 12 s, ended")
                   for name in rows)  # fmt: skip


def test_values_are_grouped_by_name_and_unit_in_order() -> None:
    found = Measures()
    found.add("read", s=1, tokens=200)
    found.add("kept", MiB=3)
    found.add("read", s=2)
    rows = [(row.name, row.of, row.values) for row in found.rows.values()]
    assert rows == [
        ("read", "s", [1.0, 2.0]), ("read", "tokens", [200.0]), ("kept", "MiB", [3.0]),
    ]  # fmt: skip


def test_a_stopwatch_adds_wall_and_cpu_seconds() -> None:
    found, watch = Measures(), Stopwatch()
    watch.wall_s, watch.cpu_s = 2.0, 3.0
    found.took("all", watch)
    assert {row.of: row.values for row in found.rows.values()} == {"s": [2.0], "CPU s": [3.0]}


def test_each_number_gives_one_fixed_and_different_clip() -> None:
    assert len(clip(4, 1).samples) == 4 * RATE_HZ
    assert (clip(1, 1).samples == clip(1, 1).samples).all()
    assert (clip(1, 1).samples != clip(1, 2).samples).any()
