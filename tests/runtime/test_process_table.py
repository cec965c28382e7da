"""The process table: rows that are modules, rings of one writer, cores and priorities."""

from __future__ import annotations

import importlib.util

import pytest

from appliance.runtime import process_table


def test_every_row_of_the_table_is_a_module() -> None:
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


def test_only_fifo_rows_have_a_priority_and_the_audio_ones_come_first() -> None:
    priority = {row.name: row.priority for row in process_table.PROCESSES}
    for row in process_table.PROCESSES:
        assert bool(row.priority) == (row.scheduling == "fifo")
    assert min(priority["capture"], priority["playback"]) > priority["listener"]


def test_the_thinkers_cores_are_its_own() -> None:
    thinker = process_table.row("thinker")
    others = [row for row in process_table.PROCESSES if row.name != "thinker"]
    assert not any(set(row.cores) & set(thinker.cores) for row in others)


def test_a_row_is_found_by_its_name_and_another_is_not() -> None:
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


def test_the_rest_of_the_table_names_rows_that_there_are() -> None:
    names = {row.name for row in process_table.PROCESSES}
    assert names >= process_table.UNLIMITED | process_table.OOM_SCORES.keys()
