"""A release without a required library is refused before its trial."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.process

_LOOK = """
import sys
sys.modules.update(dict.fromkeys({missing}))  # None: importing it fails
import pytest

from appliance.errors import ReleaseRefused
from appliance.update.release.selftest import import_parts
from appliance.runtime.process_table import PROCESSES
from appliance.settings import load_defaults
try:
    import_parts(load_defaults(), PROCESSES)
except ReleaseRefused as error:
    sys.exit(str(error))
"""


def looked(*missing: str) -> subprocess.CompletedProcess[str]:
    """Runs in a Python of its own, because an imported module stays loaded."""
    command = [sys.executable, "-c", _LOOK.format(missing=missing)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=100)


def test_a_release_with_all_its_libraries_could_run() -> None:
    assert looked().returncode == 0


def test_a_library_that_is_imported_only_for_an_answer_is_checked_too() -> None:
    done = looked("llama_cpp.mtmd_cpp")
    assert done.returncode == 1
    assert "thinker cannot be loaded" in done.stderr
