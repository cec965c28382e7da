"""Libraries of other people keep to themselves what they know of this box."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import skips
from tests.models.hub_server import HubServer

pytestmark = pytest.mark.process

PROGRAM = """
import sys
{first}
import onnxruntime
onnxruntime.InferenceSession(sys.argv[1], providers=["CPUExecutionProvider"])
"""
ROOT = Path(__file__).parents[1]
MODEL = ROOT / "appliance/models/verdict.onnx"


def left_behind(home: Path, first: str) -> list[Path]:
    """What loading a network writes below `home`: the number by which its makers know a machine."""
    free = {name: word for name, word in os.environ.items()
            if not name.startswith(("ORT_", "XDG_"))}  # fmt: skip
    subprocess.run(
        [sys.executable, "-c", PROGRAM.format(first=first), MODEL],
        env={**free, "HOME": str(home)}, check=True, timeout=120,
    )  # fmt: skip
    return [path for path in home.rglob("*") if path.is_file()]


def test_onnxruntime_gives_a_box_no_number_and_tells_nobody_of_it(tmp_path: Path) -> None:
    assert left_behind(tmp_path, "import appliance") == []


def test_left_alone_it_would(tmp_path: Path) -> None:
    if not left_behind(tmp_path, ""):
        pytest.skip(skips.NUMBERED)


PLAIN = """
import sys
from huggingface_hub import get_hf_file_metadata, hf_hub_url
get_hf_file_metadata(hf_hub_url("somebody/some-model", "a.gguf", endpoint=sys.argv[1]))
"""
OURS = """
import sys
from appliance.models.hub import ModelHub
ModelHub(sys.argv[1]).describe("somebody/some-model", "a.gguf", None)
"""


@pytest.mark.parametrize(("program", "asks_more"), [(OURS, False), (PLAIN, True)])
def test_the_hub_is_asked_for_files_and_for_nothing_else(
    tmp_path: Path, program: str, asks_more: bool
) -> None:
    free = {name: word for name, word in os.environ.items()
            if not name.startswith(("HF_", "XDG_"))}  # fmt: skip
    with HubServer({"a.gguf": b"model"}) as hub:
        subprocess.run(
            [sys.executable, "-c", program, hub.endpoint],
            env={**free, "HOME": str(tmp_path), "HF_ENDPOINT": hub.endpoint},
            cwd=ROOT, check=True, timeout=120,
        )  # fmt: skip
        paths = {path for _, path, _ in hub.requests}
    assert any("a.gguf" in path for path in paths)
    assert any("a.gguf" not in path for path in paths) == asks_more
