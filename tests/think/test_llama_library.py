"""llama.cpp's complaints: the first counts, in its own words, and none is told twice."""

from __future__ import annotations

from pathlib import Path

import pytest

from appliance.think import llama_library
from appliance.think.llama_library import build, clear_log, first_complaint, llama


def load_nothing(path: Path) -> None:
    """Have it complain."""
    assert not llama.llama_model_load_from_file(
        str(path).encode(), llama.llama_model_default_params()
    )


def test_the_first_complaint_is_told_once_without_the_names_of_functions(tmp_path: Path) -> None:
    bad = tmp_path / "bad.gguf"
    bad.write_text("Dear reader, this is not a model.")
    clear_log()
    load_nothing(bad)
    said = first_complaint()
    assert "magic" in said
    assert not said.startswith(("gguf_init", "llama_model"))
    assert not said.endswith(".")
    assert first_complaint() == "no reason given"


def test_what_was_complained_of_before_is_forgotten(tmp_path: Path) -> None:
    clear_log()
    load_nothing(tmp_path / "none.gguf")
    clear_log()
    assert first_complaint() == "no reason given"


@pytest.mark.parametrize(("level", "kept"), [(4, True), (3, False), (2, False)])
def test_only_errors_are_complaints(level: int, kept: bool) -> None:
    clear_log()
    llama_library._log_callback(level, b"llama_model_load: error loading model: no room.\n", None)
    assert first_complaint() == ("no room" if kept else "no reason given")


def test_a_build_is_known_by_its_libraries_and_stays_the_same() -> None:
    assert len(build()) == 32
    assert build() == build.__wrapped__()
