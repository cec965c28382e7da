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

# Limit on the turns of a Recall. The newest turn always fits: typed text and transcript have at
# most 4 kB each, the answer 40 kB.
RECALL_BYTES = 50_000
# A Recall has up to this many times `memory.recall_turns`: the thinker starts at the turn at which
# its cached state starts (think/recall_cache.py), or else at the last `recall_turns`.
RECALL_TIMES = 3
HEAD_BYTES = 8  # msgpack overhead of a text, at most 5, and its share of the turn's, at most 1


class Think(BaseMessage, frozen=True):
    """Answer `utterances`, which are in the ring `heard`, or `text`, as turn `turn`."""

    turn: Count
    utterances: Utterances = ()
    text: WordsText = ""


class Abandon(BaseMessage, frozen=True):
    """Stop generating the answer of `turn`. If none of it was played, keep its question."""

    turn: Count


class AnswerHeard(BaseMessage, frozen=True):
    """The heard text of turn `turn`: the history keeps that part of the answer and no more.

    An empty `text`: none of the answer was or will be played; drop the question, too.
    """

    turn: Count
    text: AnswerText
    complete: bool


class Recall(BaseMessage, frozen=True):
    """Earlier turns for a thinker that has just started: (typed text, transcript, heard text)
    each."""

    turns: tuple[tuple[WordsText, WordsText, AnswerText], ...]

    @classmethod
    def newest(cls, turns: Iterable[tuple[str, str, str]]) -> Recall:
        """A Recall with as many of the newest `turns` as fit into one message."""
        space, newest_first = RECALL_BYTES, list[tuple[str, str, str]]()
        for typed, transcript, heard in reversed(tuple(turns)):
            texts = typed[-MAX_WORDS:], transcript[-MAX_WORDS:], heard[:MAX_ANSWER]
            space -= sum(len(text.encode("utf-8", "replace")) + HEAD_BYTES for text in texts)
            if space < 0:
                break
            newest_first.append(texts)
        return cls(tuple(reversed(newest_first)))


class Transcribed(BaseMessage, frozen=True):
    """Transcript of what the owner said in the finished turn `turn`; the thinker makes it while
    idle. It goes to the memory alone, never to observers, the log or the link."""

    turn: Count
    text: WordsText


class RecallWanted(BaseMessage, frozen=True):
    """The thinker asks for a Recall: when it starts, since its model reads those turns first, and
    when idle, to compute the state for the next start."""


class ThinkerReady(BaseMessage, frozen=True):
    """The model has prefilled everything before the first question and can answer now."""

    model: LineText


class ThinkingProgress(BaseMessage, frozen=True):
    """The model makes progress on `turn`, of which no sentence is complete yet."""

    turn: Count


class AnswerBegun(BaseMessage, frozen=True):
    """First words of an answer to a question that may not be over yet. They must not be played;
    if the question is over, they are sent again as Sentence 0."""

    text: WordsText
    tokens: SentenceTokens | None = None


class Sentence(BaseMessage, frozen=True):
    """One sentence of the answer, in the order of `number` from 0. `tokens`: as in Speak."""

    turn: Count
    number: Count
    text: WordsText
    tokens: SentenceTokens | None = None


class ThoughtEnded(BaseMessage, frozen=True):
    """No more sentences of `turn` follow. Timings are in milliseconds from the Think message.

    tokens        sampled tokens
    drawn_ahead   of these, sampled during the silence that ended the question
    thrown_away   sampled ahead since the previous answer, for questions that then continued
    waited_ms     until the model finished the work in progress, mostly prefill of this question
    read_tokens   of the question and everything before it, not yet prefilled at the Think message
    aloud         key of the sentence that the box says about `problem` (language/); "" for none
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
