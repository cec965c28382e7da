"""Installed voice programs, unpacked: the real one, with this environment's piper-tts, and short
scripts. They are not signed; tests/voice/engine/ has signed ones."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

from appliance.voice.engine import manifest as manifests
from appliance.voice.engine.manifest import EngineManifest
from appliance.voice.protocol import PROTOCOL
from tests.voice import onnx_voice

PIPER = Path(__file__).parents[2] / "voices/piper/program.py"
# Helpers at the start of each script: replies, sounds, and the orders from stdin.
PLAIN = """
import json, sys
out = sys.stdout.buffer
def tell(answer, pcm=b""):
    out.write(json.dumps(answer).encode() + b"\\n" + pcm)
    out.flush()
def sound(number, frames=800, level=8000, **more):
    tell({"sound": number, "frames": frames, **more}, level.to_bytes(2, "little") * frames)
def orders():
    for line in sys.stdin:
        yield json.loads(line)
"""


def plant(programs: Path, script: Path | str = PIPER, **changed: Any) -> Path:
    """A complete bundle below `programs`; `script`: the program's file, or its text after PLAIN."""
    values: dict[str, Any] = {
        "engine": "piper", "version": "0.1.0", "protocol": PROTOCOL, "licence": "any",
        "machine": "any", "python": "any", "made_s": 0, "tree_sha256": "0" * 64, "tree_bytes": 0,
        "files_bytes": 0, **changed,
    }  # fmt: skip
    manifest = EngineManifest(**values)
    folder = programs / f"{manifest.engine}-{manifest.version}"
    (folder / "bin").mkdir(parents=True)
    program = folder / "program.py"
    if isinstance(script, Path):
        shutil.copy(script, program)
    else:
        program.write_text(PLAIN + script)
    start = folder / "bin/voice"
    start.write_text(f'#!/bin/sh\nexec {sys.executable} -I -B {program} "$@"\n')
    start.chmod(0o755)
    (folder / manifests.NAME).write_bytes(manifest.encode())
    return folder


def fetched(state_dir: Path, name: str, *, spin: int = 0, espeak: str = "en-us") -> Path:
    """Write an owner's voice below the models of `state_dir`. Returns its ONNX file."""
    folder = state_dir / "models" / name
    folder.mkdir(parents=True)
    return onnx_voice.write(folder / f"{name}.onnx", spin=spin, espeak=espeak)
