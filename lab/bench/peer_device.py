"""A compared program as a device of the simulated room; the program runs in a process of its own.

In: blocks of the microphone, and the words in the room. Out: blocks of the loudspeaker, and the
program's pauses and drops as the onsets and verdicts that Interlude's own trials have.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from appliance.messages.hearing import Judgement, Onset, Verdict
from appliance.pcm import RATE_HZ, Samples
from appliance.settings import Settings
from lab.bench import bench_speech
from lab.bench.benches import BenchError
from lab.bench.interruption_plan import TrialJob
from lab.bench.interruption_trials import ANSWERED_S, JobResult, Spec, play
from lab.bench.interruption_work import TALK_S, noise_of, run_job
from lab.bench.peer_environment import ROOT
from lab.bench.peer_systems import SYSTEMS, transcript
from lab.bench.simulated_room import TimedEvent
from lab.peers import pipe
from lab.peers.pipe import Event, Start, Words

PROGRAM = ("-m", "lab.peers.program")
# The programs are told no paths but the checkout's, and use one thread, as there is a process for
# each core.
VARIABLES = {
    "PYTHONPATH": str(ROOT), "PYTHONNOUSERSITE": "1", "OMP_NUM_THREADS": "1",
    "NUMBA_NUM_THREADS": "1",
}  # fmt: skip
_MS = RATE_HZ // 1000


class PeerDevice:
    """Implements `SimulatedDevice`. `close` ends the program."""

    def __init__(
        self, command: Sequence[str], start: Start, talk: Samples,
        variables: Mapping[str, str] | None = None,
    ) -> None:  # fmt: skip
        """Start the program by `command`, with `variables` in its environment, too."""
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  # closed by `close`
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors,
            env=os.environ | VARIABLES | dict(variables or {}), cwd=ROOT,
        )  # fmt: skip
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._requests, self._answers = self._process.stdin, self._process.stdout
        self._name = start.program
        self.stops: list[int] = []
        self.yields: list[int] = []
        self.events: list[TimedEvent] = []
        self.talking = False
        self._serial = 0
        self._stopped_at: int | None = None  # sample of a pause without an end
        try:
            pipe.write_start(self._requests, start, talk)
        except BrokenPipeError:
            raise self._ended() from None

    def play(self, at: int) -> Samples:
        """Raises BenchError, with the program's last line, if it has ended."""
        try:
            answer = pipe.read_answer(self._answers)
        except pipe.PipeClosed:
            raise self._ended() from None
        self.talking = answer.audible
        for event in answer.events:
            self._log(event)
        return answer.samples

    def process(self, mic: Samples, at: int) -> None:
        """Raises BenchError as `play` does."""
        try:
            pipe.write_block(self._requests, mic)
        except BrokenPipeError:
            raise self._ended() from None

    def say(self, words: Words) -> None:
        """Announce the words of a sound that begins later."""
        pipe.write_words(self._requests, words)

    def close(self) -> None:
        """End the program. May be called twice."""
        self._process.kill()
        self._process.wait()
        self._answers.close()
        try:
            self._requests.close()
        except BrokenPipeError:  # a block was not written to the end
            pass
        self._errors.close()

    def _log(self, event: Event) -> None:
        at, kind = event
        if kind == "silent":
            self.stops.append(at)
            return
        if kind == "stopped":
            self._serial += 1
            self._stopped_at = at
            self.events.append(TimedEvent(at, Onset(self._serial, at, speaking=True)))
            return
        if kind == "dropped":
            self.yields.append(at)
        if self._stopped_at is not None:
            verdict: Judgement = "interruption" if kind == "dropped" else "backchannel"
            age_ms = (at - self._stopped_at) // _MS
            self.events.append(TimedEvent(at, Verdict(self._serial, verdict, age_ms)))
            self._stopped_at = None

    def _ended(self) -> BenchError:
        self._process.wait()
        self._errors.seek(0)
        lines = self._errors.read().decode(errors="replace").strip().splitlines()
        last_line = lines[-1] if lines else f"exit code {self._process.returncode}"
        self.close()
        return BenchError(f"{self._name} has ended: {last_line}")


def run_peer(job: TrialJob, settings: Settings, *, system: str, python: Path) -> JobResult:
    """Run one job of the interruption bench with a row of SYSTEMS in Interlude's place; `python`:
    of the environment that has the programs. Raises BenchError if the program ends early."""
    row = SYSTEMS[system]
    if not row.program:
        return run_job(job, settings)
    noise, problems = noise_of(job.place, job.noise)
    talk = bench_speech.talk(settings, min(job.seconds, TALK_S), job.seed)
    start = Start(row.program, dict(row.options), round(ANSWERED_S * RATE_HZ), len(talk))
    device = PeerDevice((str(python), *PROGRAM), start, talk)

    def told(spec: Spec, onset: int, end: int) -> None:
        if text := transcript(spec, murmurs=row.writes_murmurs):
            device.say(Words(text, onset, end))

    try:
        result = play(
            device, job.place, noise, job.specs, job.seed, job.seconds, job.question, told
        )
    finally:
        device.close()
    result.problems += problems
    return result
