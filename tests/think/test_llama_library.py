"""llama.cpp's error messages: the first one is returned, in its own words, and only once."""

from __future__ import annotations

from pathlib import Path

import pytest

from appliance.think import llama_library
from appliance.think.llama_library import build, clear_log, first_complaint, llama


def load_nothing(path: Path) -> None:
    """Make llama.cpp log an error."""
    assert not llama.llama_model_load_from_file(
        str(path).encode(), llama.llama_model_default_params()
    )


def test_the_first_error_is_returned_once_without_function_names(tmp_path: Path) -> None:
    bad = tmp_path / "bad.gguf"
    bad.write_text("Dear reader, this is not a model.")
    clear_log()
    load_nothing(bad)
    complaint = first_complaint()
    assert "magic" in complaint
    assert not complaint.startswith(("gguf_init", "llama_model"))
    assert not complaint.endswith(".")
    assert first_complaint() == "no reason given"


def test_clear_log_discards_earlier_errors(tmp_path: Path) -> None:
    clear_log()
    load_nothing(tmp_path / "none.gguf")
    clear_log()
    assert first_complaint() == "no reason given"


@pytest.mark.parametrize(("level", "kept"), [(4, True), (3, False), (2, False)])
def test_only_messages_of_level_error_are_returned(level: int, kept: bool) -> None:
    clear_log()
    llama_library._log_callback(level, b"llama_model_load: error loading model: no room.\n", None)
    assert first_complaint() == ("no room" if kept else "no reason given")


def test_the_digest_of_a_build_is_constant() -> None:
    assert len(build()) == 32
    assert build() == build.__wrapped__()
