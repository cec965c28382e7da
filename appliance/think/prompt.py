"""Renders the conversation as Gemma 4's prompt: special tokens, text, clips and sampled tokens.

Pure. `<bos><|turn>system … <turn|>`, then for each turn the owner's sound, an instruction for it,
the owner's text, in the order that the model card advises, and the answer. There is no thinking
mark, so the model does not generate thoughts. Tools are declared where the model's own chat
template puts them (tools/README.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from appliance.pcm import RATE_HZ
from appliance.think.history import History, HistoryTurn, SpeechClip
from appliance.tools.table import Tool, declaration
from appliance.tools.tool_call_syntax import answer_to_syntax, to_syntax

UNKNOWN_WORDS = "(something said aloud)"  # for a recalled turn without sound and transcript
TRANSCRIPT = "(said aloud; transcript)"  # before the transcript of a recalled turn without sound
# The model card's prompt for speech recognition.
TRANSCRIBE = (
    "Transcribe the following speech segment in its original language. Only output the "
    "transcription, with no newlines."
)
# Together they limit a transcript. Fast speech has 4 words a second, and a word has 1.3 tokens in
# English, twice as many in other languages. A longer output is a model that repeats itself.
LEAST_TOKENS = 16
TOKENS_A_SECOND = 8
NO_ANSWER = "no answer yet"  # for a tool that has not answered when the owner speaks again


@dataclass(frozen=True)
class ControlText:
    """Text in which the tokeniser recognises Gemma's special tokens."""

    text: str


@dataclass(frozen=True)
class PlainText:
    """Text from the owner, a tool or the settings: never tokenised to special tokens."""

    text: str


@dataclass(frozen=True)
class SampledTokens:
    """Tokens that the model sampled."""

    tokens: tuple[int, ...]


PromptPart = ControlText | PlainText | SpeechClip | SampledTokens


def opening(persona: str, tools: Sequence[Tool] = ()) -> Iterator[PromptPart]:
    """Yield the opening: what precedes the first turn and is the same in every prompt."""
    yield ControlText("<bos>")
    if persona.strip() or tools:
        yield ControlText("<|turn>system\n")
        yield PlainText(persona.strip())
        yield ControlText("".join(map(declaration, tools)) + "<turn|>\n")


def question(turn: HistoryTurn, instruction: str = "") -> Iterator[PromptPart]:
    """Yield the owner's part of a turn, up to the start of the model's part.

    `instruction` tells the model what to do with the sound and follows it, as in Google's own
    prompts for speech: without text beside it the model may ignore the sound.
    """
    yield ControlText("<|turn>user\n")
    for clip in turn.clips:
        yield ControlText("<|audio>")
        yield clip
        yield ControlText("<audio|>")
    words = turn.text.strip() if turn.clips else words_alone(turn)
    if turn.clips and instruction:
        words = f"{instruction}\n{words}".strip()
    if words:
        yield PlainText(words)
    yield ControlText("<turn|>\n<|turn>model\n")


def transcription_request(clip: SpeechClip) -> Iterator[PromptPart]:
    """Yield the prompt that asks for a transcript of a clip."""
    yield ControlText("<bos><|turn>user\n<|audio>")
    yield clip
    yield ControlText("<audio|>")
    yield PlainText(TRANSCRIBE)
    yield ControlText("<turn|>\n<|turn>model\n")


def most_tokens(clip: SpeechClip) -> int:
    """Return the maximum number of tokens in a transcript of this clip."""
    return LEAST_TOKENS + int(TOKENS_A_SECOND * len(clip.samples) / RATE_HZ)


def words_alone(turn: HistoryTurn) -> str:
    """Return the text that represents a question without its sound."""
    said = f"{TRANSCRIPT} {turn.transcript}" if turn.transcript else ""
    return " ".join(filter(None, (said, turn.text.strip()))) or UNKNOWN_WORDS


def answer(turn: HistoryTurn) -> Iterator[PromptPart]:
    """Yield the model's part of a turn: its calls, the tools' answers, the answer's text."""
    for use in turn.uses:
        yield from _runs(to_syntax(use.call))
    for use in turn.uses:
        yield from _runs(answer_to_syntax(use.call.name, use.said or NO_ANSWER))
    if turn.tokens:
        yield SampledTokens(tuple(turn.tokens))
    else:
        yield PlainText(turn.answer.strip())
    yield ControlText("<turn|>\n")


def _runs(runs: Iterable[tuple[str, bool]]) -> Iterator[PromptPart]:
    for text, is_words in runs:
        yield PlainText(text) if is_words else ControlText(text)


def render(
    persona: str,
    history: History,
    *,
    open_last: bool,
    tools: Sequence[Tool] = (),
    instruction: str = "",
) -> Iterator[PromptPart]:
    """Yield the complete prompt; with `open_last`, the last turn ends where its answer starts."""
    yield from opening(persona, tools)
    for turn in history.turns:
        yield from question(turn, instruction)
        if not (open_last and turn is history.last):
            yield from answer(turn)
