"""Builds chat completions requests that hold the complete conversation, sound before text.

Pure. In: the history and the owner's settings. Out: the body of a request to an OpenAI-compatible
server.
"""

from __future__ import annotations

import base64
import io
import json
import wave
from collections.abc import Iterable, Iterator, Sequence
from typing import Any
from weakref import WeakKeyDictionary

from appliance.pcm import RATE_HZ
from appliance.settings import ThinkingSettings
from appliance.think.history import History, HistoryTurn, SpeechClip
from appliance.think.prompt import NO_ANSWER, TRANSCRIBE, most_tokens, words_alone
from appliance.tools.table import Tool, function

LETTERS_A_TOKEN = 4  # in English; estimates the history's tokens without the server's vocabulary
SOUND_TOKENS_A_SECOND = 25


class ChatRequests:
    """Builds request bodies; caches each clip's encoded WAV as long as the clip is referenced."""

    def __init__(self, thinking: ThinkingSettings, tools: Sequence[Tool] = ()) -> None:
        self._thinking = thinking
        self._tools = [function(tool) for tool in tools]
        self._wav_cache: WeakKeyDictionary[SpeechClip, str] = WeakKeyDictionary()

    def request(self, history: History) -> dict[str, Any]:
        """Return the body of the request for the answer to the last turn."""
        thinking = self._thinking
        messages: list[dict[str, Any]] = []
        if thinking.persona.strip():
            messages.append({"role": "system", "content": thinking.persona.strip()})
        for turn in history.turns:
            messages.append({"role": "user", "content": self._user_content(turn)})
            if turn is not history.last:
                messages += _assistant_messages(turn)
        body: dict[str, Any] = {
            "messages": messages,
            "stream": True,
            "max_tokens": thinking.answer_tokens,
        }
        if self._tools:
            body["tools"] = self._tools
        if thinking.remote.model:
            body["model"] = thinking.remote.model
        for name in ("temperature", "top_p", "top_k"):
            if (value := getattr(thinking, name)) >= 0:
                body[name] = value
        if thinking.seed:
            body["seed"] = thinking.seed
        return body

    def transcription(self, clips: Sequence[SpeechClip]) -> dict[str, Any]:
        """Return the body of the request for a transcript of these clips."""
        body: dict[str, Any] = {
            "messages": [
                {
                    "role": "user",
                    "content": [*self._sounds(clips), {"type": "text", "text": TRANSCRIBE}],
                }
            ],
            "stream": True,
            "max_tokens": sum(map(most_tokens, clips)),
            "temperature": 0,
        }
        if self._thinking.remote.model:
            body["model"] = self._thinking.remote.model
        return body

    def make_room(self, history: History) -> None:
        """Drop the oldest turns until the estimate is within `thinking.history_tokens`."""
        while sum(map(estimate_tokens, history.turns)) > self._thinking.history_tokens:
            if history.drop_oldest() is None:
                return

    def sound(self, clip: SpeechClip) -> str:
        """Return the clip as a WAV file in base64; cached."""
        if clip not in self._wav_cache:
            file = io.BytesIO()
            with wave.open(file, "wb") as out:
                out.setnchannels(1)
                out.setsampwidth(2)
                out.setframerate(RATE_HZ)
                out.writeframes(clip.samples.astype("<i2").tobytes())
            self._wav_cache[clip] = base64.b64encode(file.getvalue()).decode()
        return self._wav_cache[clip]

    def _sounds(self, clips: Iterable[SpeechClip]) -> list[dict[str, Any]]:
        return [
            {"type": "input_audio", "input_audio": {"data": self.sound(clip), "format": "wav"}}
            for clip in clips
        ]

    def _user_content(self, turn: HistoryTurn) -> str | list[dict[str, Any]]:
        """Return the sound, then the instruction and typed text, in the order of a local prompt."""
        words = turn.text.strip()
        if not turn.clips:
            return words_alone(turn)
        parts = self._sounds(turn.clips)
        if words := f"{self._thinking.instruction.strip()}\n{words}".strip():
            parts.append({"type": "text", "text": words})
        return parts


def _assistant_messages(turn: HistoryTurn) -> Iterator[dict[str, Any]]:
    """Yield the messages of the model's calls, the tools' answers and the heard text."""
    if turn.uses:
        names = [f"call_{turn.number}_{number}" for number in range(len(turn.uses))]
        calls = [
            {
                "id": name,
                "type": "function",
                "function": {
                    "name": use.call.name,
                    "arguments": json.dumps(dict(use.call.arguments)),
                },
            }
            for name, use in zip(names, turn.uses, strict=True)
        ]
        yield {"role": "assistant", "content": "", "tool_calls": calls}
        for name, use in zip(names, turn.uses, strict=True):
            yield {"role": "tool", "tool_call_id": name, "content": use.said or NO_ANSWER}
    yield {"role": "assistant", "content": turn.answer.strip()}


def estimate_tokens(turn: HistoryTurn) -> int:
    """Estimate how many tokens a turn takes."""
    said = len(turn.text) if turn.clips else len(words_alone(turn))
    letters = said + len(turn.answer) + sum(len(use.said) for use in turn.uses)
    sound_s = sum(len(clip.samples) for clip in turn.clips) / RATE_HZ
    return int(letters / LETTERS_A_TOKEN + SOUND_TOKENS_A_SECOND * sound_s)
