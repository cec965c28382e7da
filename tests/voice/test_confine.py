"""The sandbox of a voice's program: no network, no privileges, no files, limited memory."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from appliance.errors import VoiceError
from appliance.voice.program import ProgramVoice
from tests.voice.programs import SAYS_IT, engine, until
from tests.voice.test_espeak import all_of

pytestmark = pytest.mark.process


PROBE = """
import os, socket
def refused(act):
    try:
        act()
    except OSError as error:
        return type(error).__name__
    return "allowed"
tell({"voice": 1, "rate_hz": 16000})
for order in orders():
    said = {
        "internet": refused(lambda: socket.socket(socket.AF_INET)),
        "unix": refused(lambda: socket.socket(socket.AF_UNIX)),
        "writes": refused(lambda: open("PLACE", "wb", buffering=0).write(b"x")),
    }
    status = dict(line.split(":\\t", 1) for line in open("/proc/self/status"))
    said["caps"] = {status[name].strip() for name in ("CapInh", "CapPrm", "CapEff", "CapAmb")}
    said["more"] = status["NoNewPrivs"].strip() + status["Seccomp"].strip()
    said["fds"] = len(os.listdir("/proc/self/fd"))
    said["env"] = "HF_TOKEN" in os.environ
    tell({"failed": order["say"], "why": repr(said)[:190]})
"""


def test_the_program_has_no_network_no_privileges_and_writes_no_file(
    tmp_path: Path, made: Callable[..., ProgramVoice], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", "secret")
    place = tmp_path / "written"
    program = made(PROBE.replace("PLACE", str(place)))
    until(program, lambda: program.ready)
    with pytest.raises(VoiceError) as refused:
        all_of(program.synthesise("What may you do?"))
    findings = refused.value.problem
    assert "'internet': 'OSError', 'unix': 'OSError', 'writes': 'OSError'" in findings
    assert "'caps': {'0000000000000000'}" in findings
    assert "'more': '12'" in findings  # NoNewPrivs 1, Seccomp 2 (filter)
    assert "'fds': 4" in findings  # stdin, stdout, stderr, and the folder being listed
    assert "'env': False" in findings
    assert not place.exists() or not place.stat().st_size


def test_the_memory_of_a_program_is_limited(
    made: Callable[..., ProgramVoice],
) -> None:
    program = made(
        SAYS_IT.replace("    if", "    hoard = bytearray(400 << 20)\n    if", 1), memory_mib=256
    )
    until(program, lambda: program.ready)
    with pytest.raises(VoiceError, match="ended with code 1"):
        all_of(program.synthesise("Hello."))


def test_the_program_ends_with_its_parent(tmp_path: Path) -> None:
    """The parent is killed and cannot clean up."""
    command = engine(tmp_path, SAYS_IT).command(Path("no.onnx"))
    code = (
        "import sys, time\nfrom appliance.voice.program import ProgramVoice\n"
        f"p = ProgramVoice('a', {command!r})\n"
        "while not p.ready: time.sleep(0.01); p.poll()\n"
        "print(p.pid, flush=True); time.sleep(99)"
    )
    parent = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    assert parent.stdout is not None
    pid = int(parent.stdout.readline())
    parent.kill()
    parent.wait()
    parent.stdout.close()
    limit = time.monotonic() + 10
    while Path(f"/proc/{pid}/cmdline").exists() and Path(f"/proc/{pid}/cmdline").read_bytes():
        assert time.monotonic() < limit
        time.sleep(0.02)
