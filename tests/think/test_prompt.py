"""The prompt has Gemma's format, with sound before words; text is never parsed as marks."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from appliance.think import prompt
from appliance.think.gemma import Gemma
from appliance.think.history import History, SpeechClip
from appliance.think.prompt import ControlText, PlainText, SampledTokens


def as_text(
    persona: str, history: History, *, open_last: bool = True, instruction: str = ""
) -> str:
    out = ""
    for part in prompt.render(persona, history, open_last=open_last, instruction=instruction):
        match part:
            case SpeechClip(utterance):
                out += f"[sound {utterance}]"
            case SampledTokens(tokens):
                out += f"{list(tokens)}"
            case ControlText(text) | PlainText(text):
                out += text
    return out


def conversation() -> History:
    history = History()
    turn = history.add_turn(
        1, [SpeechClip(4, np.zeros(1, np.int16)), SpeechClip(5, np.zeros(1, np.int16))]
    )
    turn.answer, turn.tokens = "Hello.", [7, 8]
    history.add_turn(2, [SpeechClip(6, np.zeros(1, np.int16))], "typed too")
    return history


def test_the_prompt_ends_where_the_answer_begins() -> None:
    assert as_text(" Be kind. ", conversation()) == (
        "<bos><|turn>system\nBe kind.<turn|>\n"
        "<|turn>user\n<|audio>[sound 4]<audio|><|audio>[sound 5]<audio|><turn|>\n"
        "<|turn>model\n[7, 8]<turn|>\n"
        "<|turn>user\n<|audio>[sound 6]<audio|>typed too<turn|>\n<|turn>model\n"
    )


def test_an_instruction_follows_sound_only() -> None:
    history = conversation()
    history.turns[1].set_answer("Well.")
    history.add_turn(3, text="only typed")
    assert as_text("", history, instruction="Reply briefly.") == (
        "<bos><|turn>user\n<|audio>[sound 4]<audio|><|audio>[sound 5]<audio|>"
        "Reply briefly.<turn|>\n"
        "<|turn>model\n[7, 8]<turn|>\n"
        "<|turn>user\n<|audio>[sound 6]<audio|>Reply briefly.\ntyped too<turn|>\n"
        "<|turn>model\nWell.<turn|>\n"
        "<|turn>user\nonly typed<turn|>\n<|turn>model\n"
    )


def test_a_finished_conversation_ends_with_the_turn_mark() -> None:
    history = conversation()
    history.turns[1].set_answer("Done. ")
    assert as_text("", history, open_last=False).endswith("<|turn>model\nDone.<turn|>\n")
    assert as_text("", history).startswith("<bos><|turn>user\n")


def test_a_recalled_turn_without_words_has_a_placeholder() -> None:
    history = History()
    history.load_turns([("", "", "Good day.")])
    assert "user\n(something said aloud)<turn|>" in as_text("", history, open_last=False)


@pytest.mark.parametrize(
    ("typed", "transcript", "words"),
    [
        ("hi", "", "hi"),
        ("", "what is the moon", "(said aloud; transcript) what is the moon"),
        ("hi", "what is the moon", "(said aloud; transcript) what is the moon hi"),
    ],
)
def test_a_recalled_transcript_is_marked_as_a_transcript(
    typed: str, transcript: str, words: str
) -> None:
    history = History()
    history.load_turns([(typed, transcript, "Good day.")])
    assert f"user\n{words}<turn|>" in as_text("", history, open_last=False)


def test_a_turn_with_sound_does_not_use_its_transcript() -> None:
    history = conversation()
    before = as_text("", history)
    for turn in history.turns:
        if turn.clips:
            turn.transcript = "something else"
    assert as_text("", history) == before


def test_the_tokens_of_the_parts_equal_those_of_the_whole_text(gemma: Callable[[], Gemma]) -> None:
    model, history = gemma(), History()
    history.add_turn(1, text="tell me about the moon").set_answer("the moon is a big stone")
    history.add_turn(2, text="hello")
    parts = list(prompt.render("a big stone", history, open_last=True))
    tokens: list[int] = []
    for part in parts:
        assert isinstance(part, ControlText | PlainText)
        tokens += model.tokenize(part.text, marks=isinstance(part, ControlText))
    assert tokens == model.tokenize(as_text("a big stone", history), marks=True)
