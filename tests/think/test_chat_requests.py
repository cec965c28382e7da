"""The request to a server: the conversation, its sound and its tools, within the budget."""

from __future__ import annotations

import base64
import io
import json
import wave
from typing import Any

import msgspec
import numpy as np
import pytest

from appliance.settings import load_defaults
from appliance.think.chat_requests import (
    LETTERS_A_TOKEN,
    SOUND_TOKENS_A_SECOND,
    ChatRequests,
    estimate_tokens,
)
from appliance.think.history import History, HistoryTurn, SpeechClip, ToolUse
from appliance.tools.table import TOOLS, Tool
from appliance.tools.tool_call_syntax import ToolCall


def requests(tools: tuple[Tool, ...] = (), model: str = "gemma", **changes: Any) -> ChatRequests:
    plain = load_defaults().thinking
    remote = msgspec.structs.replace(plain.remote, url="http://a/v1", model=model)
    changes = {"persona": "Be kind.", "instruction": "", **changes}
    return ChatRequests(msgspec.structs.replace(plain, remote=remote, **changes), tools)


def silence(seconds: float, number: int = 1) -> SpeechClip:
    return SpeechClip(number, np.zeros(int(16_000 * seconds), np.int16))


def asked(text: str = "hi") -> History:
    history = History()
    history.add_turn(1, text=text)
    return history


def test_a_request_has_the_conversation_with_sound_before_words() -> None:
    samples = np.arange(-400, 400, dtype=np.int16)
    history = asked("hello")
    history.turns[0].answer = "Hello to you. "
    history.add_turn(2, [SpeechClip(5, samples)], "typed too")
    body = requests(
        temperature=0.5, answer_tokens=77, seed=3, instruction="Answer the sound."
    ).request(history)
    system, user, assistant, last = body["messages"]
    assert system == {"role": "system", "content": "Be kind."}
    assert user == {"role": "user", "content": "hello"}
    assert assistant == {"role": "assistant", "content": "Hello to you."}
    sound, words = last["content"]
    assert words == {"type": "text", "text": "Answer the sound.\ntyped too"}
    assert sound["type"] == "input_audio"
    assert sound["input_audio"]["format"] == "wav"
    with wave.open(io.BytesIO(base64.b64decode(sound["input_audio"]["data"]))) as wav:
        assert (wav.getframerate(), wav.getnchannels(), wav.getsampwidth()) == (16_000, 1, 2)
        assert wav.readframes(800) == samples.tobytes()
    assert body["stream"] is True
    assert (body["model"], body["max_tokens"], body["temperature"]) == ("gemma", 77, 0.5)
    assert body["seed"] == 3
    assert "top_p" not in body  # the server's default


def test_values_that_the_owner_left_open_are_omitted() -> None:
    body = requests(persona=" \n", model="", seed=0).request(asked())
    assert [message["role"] for message in body["messages"]] == ["user"]
    assert body.keys() == {"messages", "stream", "max_tokens"}


def test_tools_calls_and_answers_are_sent_in_the_chat_api_format() -> None:
    history = asked("a timer please")
    history.turns[0].uses.append(ToolUse(ToolCall("timer", {"minutes": 5})))
    history.record_tool_answer(1, 0, "Five minutes, from now.")
    history.record_heard(1, "Five minutes, from now.", complete=True)
    history.add_turn(2, text="how long?")
    body = requests(TOOLS).request(history)
    assert {tool["function"]["name"] for tool in body["tools"]} == {tool.name for tool in TOOLS}
    _, _, calling, tool, assistant, _ = body["messages"]
    (call,) = calling["tool_calls"]
    assert json.loads(call["function"]["arguments"]) == {"minutes": 5}
    assert tool["tool_call_id"] == call["id"]
    assert tool["content"] == assistant["content"] == "Five minutes, from now."


def test_each_call_of_a_conversation_has_a_unique_id() -> None:
    history = History()
    for number in (1, 2):
        turn = history.add_turn(number, text="both")
        turn.uses += [ToolUse(ToolCall("time")), ToolUse(ToolCall("date"))]
        turn.answer = "There."
    history.add_turn(3, text="and?")
    body = requests(TOOLS).request(history)
    names = [call["id"] for m in body["messages"] for call in m.get("tool_calls", ())]
    assert len(set(names)) == 4
    assert [m["tool_call_id"] for m in body["messages"] if m["role"] == "tool"] == names


def test_a_tool_without_an_answer_is_sent_as_no_answer_yet() -> None:
    history = asked()
    history.turns[0].uses.append(ToolUse(ToolCall("time")))
    history.turns[0].answer = "It is"
    history.add_turn(2, text="well?")
    (message,) = (m for m in requests(TOOLS).request(history)["messages"] if m["role"] == "tool")
    assert message["content"] == "no answer yet"


def test_the_oldest_turns_beyond_the_budget_are_dropped() -> None:
    history = History()
    for number in range(5):
        history.add_turn(number, [silence(2.0, number)]).answer = "Yes."
    history.add_turn(9, text="hi")
    requests(history_tokens=128).make_room(history)
    assert [turn.number for turn in history.turns] == [3, 4, 9]


def test_the_last_question_is_kept_whatever_its_length() -> None:
    history = asked("why? " * 1000)
    requests(history_tokens=128).make_room(history)
    assert [turn.number for turn in history.turns] == [1]


@pytest.mark.parametrize(
    ("turn", "estimate"),
    [
        (HistoryTurn(1, (silence(4.0),)), 4 * SOUND_TOKENS_A_SECOND),
        (HistoryTurn(1, (silence(0.0),), answer="x" * 40), 40 // LETTERS_A_TOKEN),
        (HistoryTurn(1, (silence(4.0),), "x" * 40), 4 * SOUND_TOKENS_A_SECOND + 10),
    ],
)
def test_a_turns_tokens_are_estimated_from_its_sound_and_letters(
    turn: HistoryTurn, estimate: int
) -> None:
    assert estimate_tokens(turn) == estimate


def test_a_transcription_request_has_no_conversation_and_temperature_0() -> None:
    body = requests(TOOLS).transcription([silence(1.0, 1), silence(1.0, 2)])
    (user,) = body["messages"]
    assert [part["type"] for part in user["content"]] == ["input_audio", "input_audio", "text"]
    assert "Transcribe" in user["content"][-1]["text"]
    assert (body["max_tokens"], body["temperature"], "tools" in body) == (48, 0, False)


def test_the_sound_of_a_clip_is_encoded_once() -> None:
    builder, clip = requests(), silence(1.0)
    assert builder.sound(clip) is builder.sound(clip)
    assert builder.sound(silence(1.0)) == builder.sound(clip)
