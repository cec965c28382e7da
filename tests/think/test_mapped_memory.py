"""The memory of a loaded model excludes its file's pages and the per-layer embeddings."""

from __future__ import annotations

import mmap
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from appliance.think.mapped_memory import release_pages
from tests.think import tiny

pytestmark = pytest.mark.process


LOAD = """
import sys
from pathlib import Path
from appliance.think.gemma import Gemma
from appliance.models.local_model import Sampling
from tests.memory_peak import Peak
text, audio = Path(sys.argv[1]), Path(sys.argv[2])
peak = Peak()
model = Gemma(text, audio, context_tokens=512, threads=1, sampling=Sampling())
print(peak.mib)
def resident():
    smaps = Path("/proc/self/smaps").read_text().split(str(text))[1:]
    return sum(int(part.split("Rss:")[1].split()[0]) for part in smaps) / 1024
print(resident())
model.evaluate(range(300, 310), last=True)
print(resident())
print(abs(model.logits()).max() > 0)
"""


def resident_kib(path: Path) -> int:
    parts = Path("/proc/self/smaps").read_text().split(str(path))[1:]
    return sum(int(part.split("Rss:")[1].split()[0]) for part in parts)


def test_released_pages_are_not_resident_and_read_the_same_again(tmp_path: Path) -> None:
    path = tmp_path / "some file"
    data = np.random.default_rng(0).bytes(8 << 20)
    path.write_bytes(data)
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as mapped:
        assert mapped[:] == data
        assert resident_kib(path) == 8 << 10
        assert release_pages(path) == 8 << 20
        assert resident_kib(path) == 0
        assert mapped[:] == data
    assert release_pages(path) == 0
    assert release_pages(tmp_path / "nothing") == 0


def test_the_per_layer_embeddings_are_never_all_in_memory(tmp_path: Path) -> None:
    text, audio = tmp_path / "text.gguf", tmp_path / "audio.gguf"
    tiny.write_text(text, per_layer=4096, quantised=True)
    tiny.write_audio(audio)
    table = tiny.VOCABULARY * tiny.LAYERS * 4096 * 4 / 2**20
    whole = text.stat().st_size / 2**20
    assert table > 45
    assert whole - table > 5
    done = subprocess.run(
        [sys.executable, "-c", LOAD, text, audio], capture_output=True, text=True, check=True
    )
    peak, loaded, resident, computes = done.stdout.split()
    assert float(peak) < 0.8 * table
    assert float(loaded) == 0  # llama.cpp has its own copy of what it keeps
    assert float(resident) < whole / 2
    assert computes == "True"
