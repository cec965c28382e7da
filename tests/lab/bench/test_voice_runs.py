"""Runs of a voice: spoken sentences, and the time to stop its program."""

from __future__ import annotations

import sys

import pytest

from appliance.errors import VoiceError
from appliance.voice.espeak import EspeakVoice
from lab.bench.voice_runs import say, stop_times_ms, wait_until_ready

pytestmark = pytest.mark.process

# Speaks the voice protocol: a sound for each `say`, and `done` for each `stop`.
PROGRAM = r"""
import json, sys
out = sys.stdout.buffer
def answer(**what):
    out.write(json.dumps(what).encode() + b"\n")
answer(voice=1, rate_hz=16000)
out.flush()
for line in sys.stdin:
    order = json.loads(line)
    if order.get("say") == LAST:
        sys.exit()
    if "say" in order:
        answer(sound=order["say"], frames=2)
        out.write(b"abcd")
    else:
        answer(done=order["stop"])
    out.flush()
"""


def command(last: int) -> list[str]:
    return [sys.executable, "-c", PROGRAM.replace("LAST", str(last))]


def test_a_sentence_has_its_complete_sound_and_the_time_to_its_first_sample() -> None:
    voice = EspeakVoice(165)
    wait_until_ready(voice)
    short, long = say(voice, "Yes."), say(voice, "The weather will be mild.")
    voice.close()
    assert 0 < len(short.sound) < len(long.sound)
    assert short.first_ms > 0
    assert short.words == []


def test_each_stop_is_timed() -> None:
    found = stop_times_ms(command(last=0), "Yes.", 5)
    assert len(found) == 5
    assert min(found) > 0


def test_a_program_that_ends_is_a_voice_error() -> None:
    with pytest.raises(VoiceError, match="program ended"):
        stop_times_ms(command(last=2), "Yes.", 5)
