"""Locked memory: what was touched and what is mapped from files stays; what was reserved only costs
nothing. Each case is a process of its own, for a lock is the whole process's."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.process

SCRIPT = """
import json, mmap, sys
from pathlib import Path
from appliance.runtime.supervision.process_limits import lock_memory, read_mapped_files

def kib(word):
    line = next(l for l in Path("/proc/self/status").read_text().splitlines() if l.startswith(word))
    return int(line.split()[1])

reserved = mmap.mmap(-1, 256 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
said = lock_memory()
before = kib("RssAnon:")
reserved[: 32 << 20] = bytes(32 << 20)
with open(sys.argv[1], "rb") as file:
    mapped = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
files = kib("RssFile:")
read_mapped_files()
print(json.dumps({"said": said, "locked": kib("VmLck:"), "before": before,
                  "touched": kib("RssAnon:") - before, "file": kib("RssFile:") - files}))
"""


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, int]:
    large = tmp_path_factory.mktemp("mapped") / "file"
    large.write_bytes(b"x" * (16 << 20))
    done = subprocess.run([sys.executable, "-c", SCRIPT, large], check=True, capture_output=True,
                          text=True, cwd=Path(__file__).parents[3])  # fmt: skip
    found: dict[str, int] = json.loads(done.stdout)
    return found


def test_it_is_locked_or_it_is_said_why(seen: dict[str, int]) -> None:
    assert seen["locked"] > 0 or "cannot be locked" in str(seen["said"])


def test_what_was_only_reserved_takes_no_memory(seen: dict[str, int]) -> None:
    assert seen["before"] < 128 << 10


def test_what_is_touched_is_there(seen: dict[str, int]) -> None:
    assert seen["touched"] >= 31 << 10


def test_a_mapped_file_is_read_before_anybody_looks_at_it(seen: dict[str, int]) -> None:
    assert seen["file"] >= 15 << 10
