"""`interlude bench peers`: its jobs, its errors, and a run with a program without any package."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from appliance.settings import load_defaults
from lab.bench import peers
from lab.bench.benches import BenchError, BenchOptions
from lab.bench.interruption_findings import InterruptionFindings
from lab.bench.interruption_plan import plan
from lab.bench.peer_environment import PeerEnvironment
from lab.sim.synthetic_phrases import Phrase
from tests.programs import ROOT

OPTIONS = BenchOptions(load_defaults(), effort="quick")


def home(tmp_path: Path) -> PeerEnvironment:
    """An environment whose Python runs the small program of the tests."""
    lock = tmp_path / "peers.lock"
    lock.write_text("pipecat-ai==1.14.0 \\\n    --hash=sha256:0\n", encoding="utf-8")
    made = PeerEnvironment(tmp_path / "home", lock)
    made.python.parent.mkdir(parents=True)
    program = Path(__file__).with_name("fake_peer.py")
    made.python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{program}"\n', encoding="utf-8")
    made.python.chmod(0o755)
    stamp = made.folder / "lock.sha256"
    stamp.write_text(hashlib.sha256(lock.read_bytes()).hexdigest(), encoding="utf-8")
    return made


def test_an_unknown_system_is_an_error() -> None:
    with pytest.raises(BenchError, match=r"no part `glados`. There are interlude, pipecat, "):
        peers.bench(replace(OPTIONS, parts=("pipecat", "glados")))


def test_the_jobs_are_those_of_the_interruption_bench() -> None:
    jobs = peers.planned(OPTIONS, [])
    theirs = plan("quick", [], OPTIONS.seed)
    assert [job for job in theirs if job.part in ("over", "pauses")] == jobs
    assert {job.condition for job in jobs if job.part == "over"} == {
        "quiet", "echo 0 dB", "kitchen 10 dB SNR",
    }  # fmt: skip
    more = peers.planned(replace(OPTIONS, effort="full"), [])
    assert {job.condition for job in more} == {job.condition for job in jobs}


@pytest.mark.process
def test_a_programs_trials_become_tables(tmp_path: Path) -> None:
    environment = home(tmp_path)
    speaking = with_voice("espeak")
    job = peers.planned(OPTIONS, [])[0]
    specs = (
        Phrase("interruption", "wait", "en-us+f2", 150, 50),
        Phrase("backchannel", "okay", "en-us+f2", 150, 50),
        Phrase("backchannel", "mm-hm", "en-us+f2", 150, 50),
    )
    short = replace(job, specs=specs, seconds=45.0)
    found: dict[str, InterruptionFindings] = {}
    problems: list[str] = []
    names = ("pipecat", "livekit-perfect")
    peers._measure(speaking, environment, names, [short], found, problems)
    sheets = peers._sheets(found, [], problems, environment, early=True)
    rows = [dict(zip(sheets[0].columns, row, strict=True)) for row in sheets[0].rows]
    # It loses its answer to every word that its recogniser writes down.
    assert [row["answer lost in the end"] for row in rows] == ["50 %", "0 %"]
    assert [row["obeyed in the end"] for row in rows] == ["100 %", "100 %"]
    assert "Of PyPI: pipecat-ai 1.14.0." in sheets[0].notes
    assert any(note.startswith("Ended early") for note in sheets[0].notes)
    assert problems == []


@pytest.mark.process
def test_a_program_that_ends_leaves_its_sentence_and_the_others_go_on(tmp_path: Path) -> None:
    environment = home(tmp_path)
    environment.python.write_text("#!/bin/sh\necho no such library >&2\n", encoding="utf-8")
    job = replace(peers.planned(OPTIONS, [])[-1], seconds=15.0)
    found: dict[str, InterruptionFindings] = {}
    problems: list[str] = []
    names = ("pipecat", "interlude")
    peers._measure(with_voice("espeak"), environment, names, [job], found, problems)
    assert problems[0] == "pipecat: pipecat has ended: no such library"
    assert [len(found[name].done) for name in names] == [0, 1]


def with_voice(name: str) -> BenchOptions:
    speaking = msgspec.structs.replace(OPTIONS.settings.speaking, voice=name)
    return replace(OPTIONS, settings=msgspec.structs.replace(OPTIONS.settings, speaking=speaking))


@pytest.mark.process
def test_the_bench_imports_none_of_the_programs() -> None:
    names = "('pipecat', 'livekit', 'pyaudio', 'lab.peers.pipecat_peer', 'lab.peers.livekit_peer')"
    program = f"import sys, lab.bench.peers; print([n for n in {names} if n in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True,
                          cwd=ROOT, check=True)  # fmt: skip
    assert done.stdout == "[]\n"
