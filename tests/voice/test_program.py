"""A voice that is a program: the real piper-tts behind its pipe, and faulty programs."""

from __future__ import annotations

import contextlib
import select
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from appliance.errors import VoiceError
from appliance.voice import program as programs
from appliance.voice.factory import try_voice
from appliance.voice.interface import Speech
from appliance.voice.postprocess import TARGET_DBFS, rms_dbfs
from appliance.voice.program import ProgramVoice
from tests.voice import onnx_voice
from tests.voice.programs import SAYS_IT, engine, runs, until
from tests.voice.test_espeak import all_of

pytestmark = pytest.mark.process
SILENT_AFTER = """
tell({"voice": 1, "rate_hz": 16000})
for order in orders():
    pass
"""


# ── piper-tts ────────────────────────────────────────────────────────────────────────────────────
@pytest.fixture(scope="module")
def piper(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ProgramVoice]:
    folder = tmp_path_factory.mktemp("piper")
    model = onnx_voice.write(folder / "tiny.onnx")
    loaded = ProgramVoice("tiny", engine(folder / "voices").command(model))
    assert try_voice(loaded) == ""
    yield loaded
    loaded.close()


def test_a_sentence_has_the_target_loudness_and_no_silence_before_it(
    piper: ProgramVoice,
) -> None:
    sound = all_of(piper.synthesise("Hello there, how are you?"))
    assert len(sound) > 16000
    assert rms_dbfs(sound, 16000) == pytest.approx(TARGET_DBFS, abs=1.0)
    assert np.flatnonzero(np.abs(sound.astype(int)) > 200)[0] < 0.020 * 16000


def test_the_same_sentence_gives_the_same_samples(piper: ProgramVoice) -> None:
    first, second = (all_of(piper.synthesise("The moon.")) for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_the_parts_of_a_long_text_have_their_positions(piper: ProgramVoice) -> None:
    text = "A long sentence, with a clause, and another one, " * 10
    speech = piper.synthesise(text)
    assert len(all_of(speech)) > 16000
    marks = speech.parts  # type: ignore[attr-defined]  # only programs' sentences have them
    assert len(marks) > 3
    assert "".join(text[mark.begin : mark.end] for mark in marks) == text
    assert [mark.at for mark in marks] == sorted(mark.at for mark in marks)
    assert marks[0].at == 0


def test_a_sentence_after_cancelled_ones_is_complete(piper: ProgramVoice) -> None:
    wanted = all_of(piper.synthesise("The moon."))
    for _ in range(5):
        piper.synthesise("Something else entirely.").cancel()
    np.testing.assert_array_equal(all_of(piper.synthesise("The moon.")), wanted)


def test_stopping_ends_the_network_within_50_ms(tmp_path: Path) -> None:
    """The network ends between two of its nodes; a whole run takes many seconds."""
    slow = onnx_voice.write(tmp_path / "slow.onnx", spin=20_000)
    program = ProgramVoice("slow", engine(tmp_path / "voices").command(slow))
    took_ms, computed_ms = [], []
    try:
        until(program, lambda: program.ready)
        for _ in range(5):
            speech = program.synthesise("This takes many seconds.")
            assert not _sound_within(speech, 0.15)  # so that the run has started
            started_s, before_s = time.perf_counter(), _cpu_s(program)
            speech.cancel()
            until(program, lambda: not program._stopped)
            took_ms.append(1000 * (time.perf_counter() - started_s))
            computed_ms.append(1000 * (_cpu_s(program) - before_s))
    finally:
        program.close()
    assert max(computed_ms) < 50
    assert min(took_ms) < 50  # the others may wait for a core: other processes compute, too


def _cpu_s(program: ProgramVoice) -> float:
    """The processor time of a program so far."""
    assert program.pid is not None
    return time.clock_gettime(~program.pid << 3 | 2)  # as clock_getcpuclockid(3) computes it


def _sound_within(speech: Speech, seconds: float) -> bool:
    limit = time.monotonic() + seconds
    while (left_s := limit - time.monotonic()) > 0:
        select.select([speech.fileno()], [], [], left_s)
        samples = speech.read()
        if samples is None or len(samples):
            return True
    return False


@pytest.mark.parametrize(
    ("spoil", "problem"),
    [
        (lambda model: model.write_bytes(model.read_bytes()[:200]), "ended with code 65"),
        (lambda model: model.with_name("a.onnx.json").write_text("[]"), "ended with code 65"),
        (lambda model: model.with_name("a.onnx.json").unlink(), "ended with code 65"),
    ],
)
def test_a_damaged_voice_file_cannot_speak(
    tmp_path: Path, spoil: Callable[[Path], object], problem: str
) -> None:
    model = onnx_voice.write(tmp_path / "a.onnx")
    spoil(model)
    program = ProgramVoice("a", engine(tmp_path / "voices").command(model))
    assert problem in (try_voice(program) or "")
    program.close()


def test_a_sentence_may_be_cancelled_after_its_program_is_closed(
    made: Callable[..., ProgramVoice],
) -> None:
    program = made(SILENT_AFTER)
    until(program, lambda: program.ready)
    speech = program.synthesise("Hello.")
    program.close()
    speech.cancel()


# ── faulty programs ──────────────────────────────────────────────────────────────────────────────
def test_a_killed_program_fails_its_sentence_and_is_restarted(
    made: Callable[..., ProgramVoice],
) -> None:
    """Here it kills itself in the middle of its second sentence."""
    kill = "os.kill(os.getpid(), 9)"
    once = f"if order['say'] == 2: import os; sound(2); {kill}"
    program = made(SAYS_IT.replace("sound(order", f"{once}\n        sound(order"))
    until(program, lambda: program.ready)
    first = program.pid
    assert len(all_of(program.synthesise("Hello.")))
    speech = program.synthesise("Hello.")
    with pytest.raises(VoiceError, match="ended"):
        all_of(speech)
    until(program, lambda: program.ready)
    assert program.pid != first
    assert len(all_of(program.synthesise("Hello.")))


def test_the_delay_before_a_restart_grows_without_blocking(
    made: Callable[..., ProgramVoice],
) -> None:
    now = [0.0]
    program = made("sys.exit(3)", now_s=lambda: now[0])
    starts = []
    for _ in range(6):
        until(program, lambda: not runs(program))
        started_s = now[0]
        while not runs(program):
            now[0] += 0.05
            program.poll()
        starts.append(now[0] - started_s)
    assert starts[0] < 0.2
    assert starts[-1] > 3
    assert starts == sorted(starts)
    with pytest.raises(VoiceError, match="cannot speak now"):
        program.synthesise("Hello.")


@pytest.mark.parametrize(
    ("script", "problem"),
    [
        (
            "print('Hello, I am a voice.', flush=True)\nlist(orders())",
            "does not speak the protocol",
        ),
        ("tell({'voice': 2, 'rate_hz': 16000})\nlist(orders())", "speaks protocol 2"),
        ("tell({'voice': 1, 'rate_hz': 900000})\nlist(orders())", "does not speak the protocol"),
        ("out.write(b'x' * 100000); out.flush()\nlist(orders())", "does not speak the protocol"),
        ("tell({'voice': 1, 'rate_hz': 16000, 'extra': 1})\nlist(orders())", "the protocol"),
        ("sys.exit(0)", "ended with code 0"),
    ],
)
def test_a_program_that_violates_the_protocol_is_ended(
    made: Callable[..., ProgramVoice], script: str, problem: str
) -> None:
    assert problem in (try_voice(made(script)) or "")


def test_a_program_that_announces_too_much_sound_is_ended(
    made: Callable[..., ProgramVoice],
) -> None:
    program = made("tell({'voice': 1, 'rate_hz': 16000})\n"
                   "for order in orders(): tell({'sound': 1, 'frames': 1 << 29})")  # fmt: skip
    assert "does not speak the protocol" in (try_voice(program) or "")


def test_a_program_that_makes_no_sound_cannot_speak(made: Callable[..., ProgramVoice]) -> None:
    program = made("tell({'voice': 1, 'rate_hz': 16000})\n"
                   "for order in orders(): tell({'done': order['say']})")  # fmt: skip
    assert "made no sound" in (try_voice(program) or "")


def test_a_program_that_hangs_on_a_sentence_is_ended(made: Callable[..., ProgramVoice]) -> None:
    now = [0.0]
    program = made(SILENT_AFTER, now_s=lambda: now[0])
    until(program, lambda: program.ready)
    speech = program.synthesise("Hello.")
    assert speech.read() is not None
    now[0] = programs.HUNG_S + 1
    with pytest.raises(VoiceError, match="no sound came for 20 s"):
        speech.read()
    assert program.pid is None


def test_a_program_that_does_not_stop_is_ended(made: Callable[..., ProgramVoice]) -> None:
    now = [0.0]
    program = made(SILENT_AFTER, now_s=lambda: now[0])
    until(program, lambda: program.ready)
    program.synthesise("Hello.").cancel()
    now[0] = programs.STOP_S + 1
    program.poll()
    assert "did not stop" in program.problem


def test_a_program_that_does_not_read_blocks_nothing(made: Callable[..., ProgramVoice]) -> None:
    program = made("import time\ntell({'voice': 1, 'rate_hz': 16000})\ntime.sleep(99)")
    until(program, lambda: program.ready)
    started_s = time.monotonic()
    with contextlib.suppress(VoiceError):
        for _ in range(100):
            program.synthesise("A sentence of many words. " * 40).cancel()
    assert "does not read" in program.problem
    assert time.monotonic() - started_s < 1.0


def test_words_have_their_positions_in_the_sound(made: Callable[..., ProgramVoice]) -> None:
    """Silence before the sentence is trimmed, and the word positions account for it."""
    program = made(
        "tell({'voice': 1, 'rate_hz': 32000})\n"
        "for order in orders():\n"
        "    if 'say' in order:\n"
        "        sound(order['say'], 32000, 0)\n"
        "        sound(order['say'], 32000, to=9, words=[[0, 4, 0], [5, 9, 16000, 30000]])\n"
        "        tell({'done': order['say']})\n"
    )
    until(program, lambda: program.ready)
    speech = program.synthesise("Good moon")
    sound = all_of(speech)
    marks = speech.words
    lead = len(sound) - 16000  # the margin that is kept before the first loud sample
    assert [(mark.begin, mark.end) for mark in marks] == [(0, 4), (5, 9)]
    assert marks[0].at == pytest.approx(lead, abs=40)
    assert marks[1].at == marks[0].over == pytest.approx(lead + 8000, abs=40)
    assert marks[1].over == pytest.approx(lead + 15000, abs=40)
