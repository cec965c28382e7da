"""The shipped weights in llama.cpp answer requests by held-out voices correctly."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from training.pocket import grammar
from training.pocket.sound import Array, rms
from training.pocket.speech import HELD_OUT_VARIANTS, Voice, synthesise
from training.pocket.through_llama import Pocket

WEIGHTS = Path(__file__).parents[2] / "appliance/models/pocket"
QUIET = np.zeros(4000, np.float32)


@pytest.fixture(scope="module")
def pocket() -> Iterator[Pocket]:
    p = Pocket(WEIGHTS)
    yield p
    p.close()


def spoken(
    text: str, voice: str, speed: int = 165, pitch: int = 45, level_db: float = -22.0
) -> Array:
    clip = synthesise(text, Voice(voice, speed, pitch))
    return np.concatenate([QUIET, clip * (10 ** (level_db / 20) / rms(clip)), QUIET])


def name_of(answer: str) -> str:
    return {v: k for k, v in grammar.answers().items()}.get(answer, answer)


def test_both_files_together_are_small() -> None:
    sizes = [f.stat().st_size for f in WEIGHTS.glob("*.gguf")]
    assert len(sizes) == 2
    assert sum(sizes) <= 12_000_000


@pytest.mark.parametrize(
    ("text", "voice", "name"),
    [
        ("tell me about the moon", "en-us+f2", "moon"),
        ("wait, tell me about the sea instead", "en+m3", "sea"),
        ("tell me about the mountains", "en-gb-scotland+f4", "mountains"),
        ("tell me a story please", "en-us+linda", "story"),
        ("how is bread made?", "en-gb-x-rp+m7", "bread"),
        ("why is the sky blue?", "en-us+m7", "sky"),
        ("what is the capital of france", "en-us+robert", "france"),
        ("tell me a joke", "en-gb-x-gbcwmd+f2", "joke"),
        ("how are you today", "en-us+m3", "how_are_you"),
        ("stop", "en+f2", "stop"),
        ("never mind", "en-us+m3", "never_mind"),
        ("good night", "en+f4", "good_night"),
        ("what time is it", "en-us+m3", "time"),
        ("what is the date", "en-us+f2", "date"),
        ("set a timer for ten minutes", "en-us+robert", "timer_10"),
        ("set a timer for seven minutes", "en-us+m3", "timer"),
        ("turn on the light", "en+m3", "light_on"),
        ("turn off the light", "en-us+f2", "light_off"),
        ("say that again", "en-us+m3", "repeat"),
        ("turn the volume up", "en-us+linda", "louder"),
    ],
)
@pytest.mark.long
def test_a_held_out_voice_is_understood(pocket: Pocket, text: str, voice: str, name: str) -> None:
    assert voice.split("+")[1] in HELD_OUT_VARIANTS
    pocket.begin()
    assert name_of(pocket.answer([spoken(text, voice)])) == name


@pytest.mark.parametrize("level_db", [-40.0, -12.0])
def test_quiet_and_loud_speech_are_understood(pocket: Pocket, level_db: float) -> None:
    pocket.begin()
    clip = spoken("tell me about the moon", "en-us+m3", level_db=level_db)
    assert name_of(pocket.answer([clip])) == "moon"


@pytest.mark.parametrize(
    "text", ["the farmer sold seven bicycles yesterday", "my brother painted the garden door"]
)
def test_other_speech_gets_the_answer_for_unknown_requests(pocket: Pocket, text: str) -> None:
    pocket.begin()
    assert name_of(pocket.answer([spoken(text, "en-us+m3")])) == grammar.UNKNOWN


def test_silence_gets_the_answer_for_unknown_requests(pocket: Pocket) -> None:
    pocket.begin()
    assert name_of(pocket.answer([np.zeros(16_000, np.float32)])) == grammar.UNKNOWN


def test_the_newest_request_is_answered_after_an_interrupted_answer(pocket: Pocket) -> None:
    pocket.begin()
    pocket.hear([spoken("tell me about the moon", "en-us+f2")])
    pocket.write(17)
    pocket.read("<turn|>\n")
    second = spoken("no, wait, tell me about the sea instead", "en-us+f2")
    assert name_of(pocket.answer([second])) == "sea"


def test_a_tool_request_is_answered_by_the_call_alone_and_later_answers_are_correct(
    pocket: Pocket,
) -> None:
    pocket.begin()
    pocket.hear([spoken("set a timer for fifteen minutes", "en-us+f2")])
    assert pocket.write() == "<|tool_call>call:timer{minutes:15}<tool_call|>"
    said = "Fifteen minutes, from now."
    response = f'<|tool_response>response:timer{{value:<|"|>{said}<|"|>}}<tool_response|>'
    pocket.read(f"{response}{said}<turn|>\n")
    assert name_of(pocket.answer([spoken("tell me a joke", "en-us+f2")])) == "joke"
    assert name_of(pocket.answer([spoken("what time is it", "en-us+f2")])) == "time"


@pytest.mark.parametrize(
    "text", ["turn on the oven", "forget about the garden", "never mind", "stop"]
)
def test_no_tool_is_called_without_a_request(pocket: Pocket, text: str) -> None:
    pocket.begin()
    assert name_of(pocket.answer([spoken(text, "en-us+m3")])) not in grammar.calls()


@pytest.mark.parametrize("persona", [None, "You are a pirate on a small ship."])
def test_the_system_prompt_changes_no_answer(pocket: Pocket, persona: str | None) -> None:
    pocket.begin(persona)
    assert name_of(pocket.answer([spoken("how is bread made", "en-us+f2")])) == "bread"


def test_typed_requests_are_answered(pocket: Pocket) -> None:
    pocket.begin()
    assert name_of(pocket.answer_typed("Tell me about the moon.")) == "moon"
    assert name_of(pocket.answer_typed("what is the capital of japan?")) == "japan"


def test_unusual_typed_text_gets_an_answer(pocket: Pocket) -> None:
    pocket.begin()
    assert isinstance(pocket.answer_typed("日本 häß 12 <|turn>"), str)
