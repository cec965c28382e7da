"""Messages between conductor and thinker."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from appliance.messages.limits import (
    MAX_ANSWER,
    MAX_WORDS,
    AnswerText,
    Count,
    LineText,
    Utterances,
    WordsText,
)
from appliance.messages.message import BaseMessage
from appliance.messages.speech import SentenceTokens

# Of the turns of a Recall; the newest always fits: its question has twice 4 kB, its answer 40 kB at
# most.
RECALL_BYTES = 50_000
# Times `memory.recall_turns` that a Recall has, if there are as many: the thinker begins with the
# turn that what it has kept begins with (think/recall_cache.py), and else with the last
# `recall_turns`.
RECALL_TIMES = 3
HEAD_BYTES = 8  # of msgpack, for a text and its share of a turn: at most 5 and 1


class Think(BaseMessage, frozen=True):
    """Answer these utterances (ring `heard`), or this text, as turn `turn`."""

    turn: Count
    utterances: Utterances = ()
    text: WordsText = ""


class Abandon(BaseMessage, frozen=True):
    """Stop thinking about `turn`. If nothing of it was heard, its question is to be kept."""

    turn: Count


class AnswerHeard(BaseMessage, frozen=True):
    """What the owner heard of the answer to `turn`: the history keeps that and no more.

    No text: nothing was heard and nothing will be; the question is not to be kept either.
    """

    turn: Count
    text: AnswerText
    complete: bool


class Recall(BaseMessage, frozen=True):
    """Earlier turns for a thinker that has just begun: (what the owner typed, what a model wrote
    down of what the owner said, what was heard)."""

    turns: tuple[tuple[WordsText, WordsText, AnswerText], ...]

    @classmethod
    def newest(cls, turns: Iterable[tuple[str, str, str]]) -> Recall:
        """As many of `turns`, the newest of them, as one message has room for."""
        room, kept = RECALL_BYTES, list[tuple[str, str, str]]()
        for asked, transcript, heard in reversed(tuple(turns)):
            texts = asked[-MAX_WORDS:], transcript[-MAX_WORDS:], heard[:MAX_ANSWER]
            room -= sum(len(text.encode("utf-8", "replace")) + HEAD_BYTES for text in texts)
            if room < 0:
                break
            kept.append(texts)
        return cls(tuple(reversed(kept)))


class Transcribed(BaseMessage, frozen=True):
    """From the thinker: what the owner said in turn `turn`, which is over, as the model wrote it
    down while nobody waited. For the memory alone: no watcher, log or link is shown it."""

    turn: Count
    text: WordsText


class RecallWanted(BaseMessage, frozen=True):
    """A thinker that begins asks for a Recall, which is part of what its model reads first; later,
    to read ahead what a start would be given."""


class ThinkerReady(BaseMessage, frozen=True):
    """The model has read all that stands before the first question, which it would answer now."""

    model: LineText


class ThinkingProgress(BaseMessage, frozen=True):
    """No sentence of `turn` has come yet, and the model gets on with its work on it."""

    turn: Count


class AnswerBegun(BaseMessage, frozen=True):
    """The first words of the answer to a question that may not be over: nobody may hear them yet.
    If it is, they come as Sentence 0."""

    text: WordsText
    tokens: SentenceTokens | None = None


class Sentence(BaseMessage, frozen=True):
    """One sentence of the answer, in the order of `number` from 0. `tokens`: as in Speak."""

    turn: Count
    number: Count
    text: WordsText
    tokens: SentenceTokens | None = None


class ThoughtEnded(BaseMessage, frozen=True):
    """No more sentences of `turn` will come. Timings in milliseconds from the Think message.

    tokens        drawn
    drawn_ahead   of these, while the silence that ended the question lasted
    thrown_away   drawn ahead since the answer before, for questions that then went on
    waited_ms     for what the model was at when it was asked: mostly of this very question
    read_tokens   of the question and all before it, that were not yet read when it was asked
    aloud         the key of what the box says of `problem` (language/); "" for none
    """

    turn: Count
    sentences: Count
    reason: Literal["complete", "limit", "abandoned", "failed"]
    problem: LineText = ""
    tokens: Count = 0
    encode_ms: float = 0.0
    prefill_ms: float = 0.0
    first_sentence_ms: float = 0.0
    tokens_per_s: float = 0.0
    read_tokens: int = 0
    aloud: LineText = ""
    drawn_ahead: Count = 0
    thrown_away: Count = 0
    waited_ms: float = 0.0
