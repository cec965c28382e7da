"""The process table: modules, rings, cores and priorities of its rows."""

from __future__ import annotations

import importlib.util

import pytest

from appliance.runtime import process_table


def test_every_row_of_the_table_has_a_module() -> None:
    modules = [f"appliance.{row.module}" for row in process_table.PROCESSES]
    missing = [module for module in modules if not importlib.util.find_spec(module)]
    assert missing == []


def test_the_name_of_a_row_is_the_name_of_its_module() -> None:
    assert [row.name for row in process_table.PROCESSES] == [
        row.module.rpartition(".")[2] for row in process_table.PROCESSES
    ]


def test_every_ring_has_one_writer_and_readers_that_are_processes() -> None:
    names = {row.name for row in process_table.PROCESSES}
    rings = [ring.name for ring in process_table.RINGS]
    assert len(set(rings)) == len(rings)
    for ring in process_table.RINGS:
        assert ring.writer in names
        assert set(ring.readers) <= names - {ring.writer}
        assert ring.waits_for is None or ring.waits_for in ring.readers


def test_only_fifo_rows_have_a_priority_and_audio_is_highest() -> None:
    priority = {row.name: row.priority for row in process_table.PROCESSES}
    for row in process_table.PROCESSES:
        assert bool(row.priority) == (row.scheduling == "fifo")
    assert min(priority["capture"], priority["playback"]) > priority["listener"]


def test_no_other_row_uses_the_thinkers_cores() -> None:
    thinker = process_table.row("thinker")
    others = [row for row in process_table.PROCESSES if row.name != "thinker"]
    assert not any(set(row.cores) & set(thinker.cores) for row in others)


def test_a_row_is_found_by_name_and_an_unknown_name_is_an_error() -> None:
    assert process_table.row("thinker").module == "think.thinker"
    with pytest.raises(KeyError):
        process_table.row("none")


@pytest.mark.parametrize("row", process_table.PROCESSES, ids=lambda row: row.name)
def test_the_rings_of_a_process_are_those_that_name_it(row: process_table.Process) -> None:
    written = process_table.rings_written_by(row.name)
    read = process_table.rings_read_by(row.name)
    assert all(ring.writer == row.name for ring in written)
    assert all(row.name in ring.readers for ring in read)
    assert not set(written) & set(read)


def test_memory_exceptions_and_oom_scores_name_existing_rows() -> None:
    names = {row.name for row in process_table.PROCESSES}
    assert names >= process_table.UNLIMITED | process_table.OOM_SCORES.keys()
