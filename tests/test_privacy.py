"""Third-party libraries send no data about this box and create no machine id."""

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
    """Files that loading a network writes below `home`: a machine id for telemetry."""
    environment = {name: value for name, value in os.environ.items()
            if not name.startswith(("ORT_", "XDG_"))}  # fmt: skip
    subprocess.run(
        [sys.executable, "-c", PROGRAM.format(first=first), MODEL],
        env={**environment, "HOME": str(home)}, check=True, timeout=120,
    )  # fmt: skip
    return [path for path in home.rglob("*") if path.is_file()]


def test_onnxruntime_creates_no_machine_id_and_sends_no_telemetry(tmp_path: Path) -> None:
    assert left_behind(tmp_path, "import appliance") == []


def test_without_our_setting_onnxruntime_creates_a_machine_id(tmp_path: Path) -> None:
    if not left_behind(tmp_path, ""):
        pytest.skip(skips.NUMBERED)


PLAIN_CLIENT = """
import sys
from huggingface_hub import get_hf_file_metadata, hf_hub_url
get_hf_file_metadata(hf_hub_url("somebody/some-model", "a.gguf", endpoint=sys.argv[1]))
"""
OUR_CLIENT = """
import sys
from appliance.models.hub import ModelHub
ModelHub(sys.argv[1]).describe("somebody/some-model", "a.gguf", None)
"""


@pytest.mark.parametrize(("program", "asks_more"), [(OUR_CLIENT, False), (PLAIN_CLIENT, True)])
def test_the_model_hub_is_asked_only_for_files(
    tmp_path: Path, program: str, asks_more: bool
) -> None:
    environment = {name: value for name, value in os.environ.items()
            if not name.startswith(("HF_", "XDG_"))}  # fmt: skip
    with HubServer({"a.gguf": b"model"}) as hub:
        subprocess.run(
            [sys.executable, "-c", program, hub.endpoint],
            env={**environment, "HOME": str(tmp_path), "HF_ENDPOINT": hub.endpoint},
            cwd=ROOT, check=True, timeout=120,
        )  # fmt: skip
        paths = {path for _, path, _ in hub.requests}
    assert any("a.gguf" in path for path in paths)
    assert any("a.gguf" not in path for path in paths) == asks_more
