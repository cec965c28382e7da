"""Gemma 4's prompt: the conversation as marks, words, sound and tokens, in the order it is read.

Pure. `<bos><|turn>system … <turn|>`, then for each turn the owner's sound, an instruction for it,
the owner's words, in the order that the model card advises, and the answer. Without a thinking mark
the model does not think aloud. Tools stand where the model's own chat template puts them
(tools/README.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from appliance.pcm import RATE_HZ
from appliance.think.history import History, HistoryTurn, SpeechClip
from appliance.tools.table import Tool, declaration
from appliance.tools.tool_call_syntax import answer_to_syntax, to_syntax

UNKNOWN_WORDS = "(something said aloud)"  # of a recalled turn whose sound is gone
TRANSCRIPT = "(said aloud; transcript)"  # likewise, where a model wrote down what was said
# By the model card's advice for speech recognition.
TRANSCRIBE = (
    "Transcribe the following speech segment in its original language. Only output the "
    "transcription, with no newlines."
)
# Of a transcript, at most. Fast speech has 4 words a second, and a word 1.3 tokens in English,
# twice as many in other languages. What takes more is no transcript but goes round in circles.
LEAST_TOKENS = 16
TOKENS_A_SECOND = 8
NO_ANSWER = "no answer yet"  # of a tool, when the owner spoke first


@dataclass(frozen=True)
class ControlText:
    """Text in which Gemma's special tokens count as such."""

    text: str


@dataclass(frozen=True)
class PlainText:
    """Anybody's text: whatever it looks like, it holds no special tokens."""

    text: str


@dataclass(frozen=True)
class SampledTokens:
    """Tokens as the model drew them."""

    tokens: tuple[int, ...]


PromptPart = ControlText | PlainText | SpeechClip | SampledTokens


def opening(persona: str, tools: Sequence[Tool] = ()) -> Iterator[PromptPart]:
    """What stands before the first turn and never changes."""
    yield ControlText("<bos>")
    if persona.strip() or tools:
        yield ControlText("<|turn>system\n")
        yield PlainText(persona.strip())
        yield ControlText("".join(map(declaration, tools)) + "<turn|>\n")


def question(turn: HistoryTurn, instruction: str = "") -> Iterator[PromptPart]:
    """The owner's part of a turn, up to where the model begins.

    `instruction` says what is to be done with sound, and stands behind it, as in Google's own
    prompts for speech: without a word beside it the model may pass over what was said.
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
    """Asks for the words of a clip."""
    yield ControlText("<bos><|turn>user\n<|audio>")
    yield clip
    yield ControlText("<audio|>")
    yield PlainText(TRANSCRIBE)
    yield ControlText("<turn|>\n<|turn>model\n")


def most_tokens(clip: SpeechClip) -> int:
    """How many tokens a transcript of this clip may have."""
    return LEAST_TOKENS + int(TOKENS_A_SECOND * len(clip.samples) / RATE_HZ)


def words_alone(turn: HistoryTurn) -> str:
    """What stands for a question without its sound."""
    said = f"{TRANSCRIPT} {turn.transcript}" if turn.transcript else ""
    return " ".join(filter(None, (said, turn.text.strip()))) or UNKNOWN_WORDS


def answer(turn: HistoryTurn) -> Iterator[PromptPart]:
    """The model's part of a turn: its calls, what the tools said, what was heard."""
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
    """All of it; with `open_last` the last turn stops where its answer is to begin."""
    yield from opening(persona, tools)
    for turn in history.turns:
        yield from question(turn, instruction)
        if not (open_last and turn is history.last):
            yield from answer(turn)
