"""Whole conversations through the real processes, on the simulated card, with the pocket model."""

from __future__ import annotations

import json
import os
import signal
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import soundfile

from appliance import pcm, settings
from appliance.cli import rows
from appliance.messages.commands import StopSpeaking
from appliance.messages.routes import receivers_of
from appliance.messages.supervision import PartChanged
from appliance.runtime.process_table import Process
from lab.sim import rehearsal_cli, scene
from lab.sim.rehearsal import WATCHER, Rehearsal
from lab.sim.rehearsal_report import RecordingReader, report
from tests import skips
from tests.english import ENGLISH

ROWS = rows.rows_to_run(settings.load_defaults())
pytestmark = [
    pytest.mark.process,
    pytest.mark.timeout(300),
    pytest.mark.usefixtures("simcard_library"),
]


def play(raw: dict[str, object], **options: object) -> RecordingReader:
    parsed = scene.parse(raw, name="test", folder=Path())
    return rehearsal_cli.perform(parsed, ENGLISH, **options)


@pytest.fixture(scope="module")
def demo(
    simcard_library: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[RecordingReader, Path]:
    """The built-in scene, played once, and its output folder; its "home" is the owner's state,
    "state" that of the box, and "log" what the parts wrote to stderr."""
    folder = tmp_path_factory.mktemp("demo")
    (folder / "home").mkdir()
    state, chosen = folder / "state", settings.load_defaults()
    with pytest.MonkeyPatch.context() as patch, (folder / "log").open("wb") as log:
        patch.setenv("XDG_STATE_HOME", str(folder / "home"))
        stderr = os.dup(2)
        os.dup2(log.fileno(), 2)
        try:
            parsed = scene.load(rehearsal_cli.DEMO)
            reader = rehearsal_cli.perform(parsed, chosen, state=state)
        finally:
            os.dup2(stderr, 2)
            os.close(stderr)
    rehearsal_cli.write_report(reader, reader.outcomes(), folder)
    return reader, folder


def test_every_part_stores_its_files_in_its_own_folders(demo: tuple[RecordingReader, Path]) -> None:
    """A folder that a part may not write, or a file that it may not read, is in its log."""
    state, log = demo[1] / "state", (demo[1] / "log").read_text()
    assert "idle (started)" in log
    for words in ("Permission denied", "cannot be written", "Traceback"):
        assert words not in log, log
    found = {str(path.parent.relative_to(state)) for path in state.rglob("*") if path.is_file()}
    assert found == {"conductor", "timers", "memory", "listener", "openings", "audio-encoder"}
    without = [line for line in log.splitlines() if "the limits of files and programs" in line]
    assert bool(without) == skips.lacks_landlock()


def test_every_utterance_of_the_demo_has_the_expected_outcome(
    demo: tuple[RecordingReader, Path],
) -> None:
    outcomes = demo[0].outcomes()
    kinds = {
        "request": "answered",
        "backchannel": "resumed",
        "noise": "resumed",
        "interruption": "yielded",
    }
    assert [o.outcome for o in outcomes] == [kinds[o.kind] for o in outcomes]
    assert not demo[0].recording.given_up


def test_the_answers_of_the_demo_fit_the_questions(demo: tuple[RecordingReader, Path]) -> None:
    for outcome in demo[0].outcomes():
        for word in ("sea", "moon", "five minutes"):
            if word in outcome.said:
                assert word in (outcome.answer_text or "").lower()


def test_a_backchannel_loses_and_repeats_no_sample_of_the_answer(
    demo: tuple[RecordingReader, Path],
) -> None:
    seams = demo[0].seams()  # a seam at the end of a sentence or at a dropout is not measured
    assert seams or report(demo[0])["dropouts"]["playback"]
    assert all(seam.lost_samples == seam.repeated_samples == 0 for seam in seams)


def test_the_box_falls_silent_soon_after_the_owner_begins(
    demo: tuple[RecordingReader, Path],
) -> None:
    stops = [o.stop_ms for o in demo[0].outcomes() if o.over_the_box]
    assert all(stop is not None and stop < 400 for stop in stops)  # a bound, not the benchmark


def test_every_message_of_a_conversation_has_a_row_in_the_routing_table(
    demo: tuple[RecordingReader, Path],
) -> None:
    reader, _ = demo
    seen = {
        (type(mail.message), mail.source, mail.target)
        for _, mail in reader.recording.mail
        if mail.target != WATCHER
    }
    assert len(seen) > 20
    assert {
        (kind.__name__, source, target)
        for kind, source, target in seen
        if target not in receivers_of(kind, source)
    } == set()


def test_the_report_has_all_documented_entries(demo: tuple[RecordingReader, Path]) -> None:
    loaded = json.loads((demo[1] / "report.json").read_text())
    assert loaded["dropouts"].keys() == {"capture", "playback"}
    assert loaded["processes"].keys() == {row.name for row in ROWS}
    assert loaded["versions"]["interlude"]
    assert len(loaded["utterances"]) == len(scene.load(rehearsal_cli.DEMO).owner)


def test_the_sound_file_has_the_owner_left_and_the_box_right(
    demo: tuple[RecordingReader, Path],
) -> None:
    tracks, rate = soundfile.read(demo[1] / "room.wav", dtype="int16")
    assert rate == pcm.RATE_HZ
    assert np.array_equal(tracks[:, 1], demo[0].track[: len(tracks)])
    assert np.array_equal(tracks[:, 0], demo[0].recording.microphone[: len(tracks)])


def test_the_compressed_sound_file_is_alike_and_a_tenth_as_large(
    demo: tuple[RecordingReader, Path],
) -> None:
    original, rate = soundfile.read(demo[1] / "room.wav", dtype="float64")
    compressed, compressed_rate = soundfile.read(demo[1] / "room.ogg", dtype="float64")
    assert (compressed_rate, compressed.shape) == (rate, original.shape)
    for channel in (0, 1):
        assert np.corrcoef(original[:, channel], compressed[:, channel])[0, 1] > 0.95
    sizes = [(demo[1] / name).stat().st_size for name in ("room.ogg", "room.wav")]
    assert 8 * sizes[0] < sizes[1]


def test_the_timeline_is_a_png(demo: tuple[RecordingReader, Path]) -> None:
    assert (demo[1] / "timeline.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_no_process_exceeds_its_budget(demo: tuple[RecordingReader, Path], row: Process) -> None:
    recording = demo[0].recording
    cost = recording.costs[row.name]
    # Twice the budget: on a busy host 200 wake-ups a second cost that much more. `interlude bench
    # cost` measures the figure itself.
    assert cost.cpu_s <= 2 * row.cpu_share * recording.seconds
    assert cost.peak_mib <= row.memory_mib
    assert cost.restarts == 0


def test_a_rehearsal_leaves_nothing_in_the_owners_memory(
    demo: tuple[RecordingReader, Path],
) -> None:
    assert "answered" in [outcome.outcome for outcome in demo[0].outcomes()]
    assert list((demo[1] / "home").rglob("*")) == []


class ProcessKiller:
    """Kills or freezes one process per turn while the box speaks, then stops the answer."""

    def __init__(self, signal_to_send: signal.Signals) -> None:
        self.signal_to_send = signal_to_send
        self.remaining = [row.name for row in ROWS]
        self.done: list[str] = []
        self.pid = 0
        self.waiting = False

    def __call__(self, rehearsal: Rehearsal) -> None:
        state = rehearsal.state
        if self.waiting:
            part = rehearsal.supervisor.parts[self.done[-1]]
            if part.announced and part.child and part.child.pid != self.pid:
                rehearsal.mail.send(StopSpeaking())
                self.waiting = False
        elif state and state.state == "speaking" and len(self.done) < len(rehearsal.recording.said):
            if time.monotonic_ns() - state.at_ns < 600_000_000 or not self.remaining:
                return  # wait until the answer has played for 0.6 s
            name = self.remaining.pop(0)
            self.pid = rehearsal.pid(name)
            os.kill(self.pid, self.signal_to_send)
            self.done.append(name)
            self.waiting = True


QUESTIONS = ["tell me about the moon", "tell me about the sea", "tell me a story",
             "how is bread made", "tell me about the mountains", "tell me about the moon",
             "tell me about the sea"]  # fmt: skip  # answers longer than the delay of a kill


@pytest.mark.parametrize("signal_to_send", [signal.SIGKILL, signal.SIGSTOP])
def test_each_killed_or_frozen_process_is_restarted_and_the_conversation_goes_on(
    signal_to_send: signal.Signals,
) -> None:
    # A frozen process is up again within an answer, which takes five seconds.
    rows = tuple(replace(row, silent_s=min(row.silent_s, 2.0)) for row in ROWS)
    killer = ProcessKiller(signal_to_send)
    script = [{"when": "idle", "after_s": 0.4, "say": question} for question in QUESTIONS]
    reader = play({"owner": script, "patience_s": 60}, during=killer, rows=rows)
    assert killer.done == [row.name for row in ROWS]
    restarted = [m.part for _, m in reader.recording.messages_of(PartChanged) if m.state == "up"]
    told = [name for name in killer.done if name != "conductor"]  # which is told of the others
    assert all(restarted.count(name) >= 1 for name in told)
    assert [o.outcome for o in reader.outcomes()] == ["answered"] * len(QUESTIONS)


def test_the_report_says_why_a_rehearsal_was_given_up() -> None:
    script = [{"when": "speaking", "say": "hello"}]  # nothing was asked, so the box never speaks
    reader = play({"owner": script, "patience_s": 1})
    assert "the box was not" in report(reader)["given_up"]
    assert reader.outcomes() == []
