"""Answers orders for sentences, given as tokens, in the protocol of a voice's program.

The replies to an order: the frames as they are made, with the position of each word; then the end,
or that the sentence cannot be said and how much of it was. No text comes in.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import msgspec

from appliance.pcm import Samples
from appliance.voice.head_check import HeadCheck
from appliance.voice.head_runs import HeadRuns, MadeFrame

WAIT_S = 5.0  # timeout for the states of an ordered sentence: on a Pi a token takes 0.15 s

Word = tuple[int, int, int]  # characters from and to, and its token's offset from the first


class HeadOrder(msgspec.Struct, frozen=True):
    """Say sentence number `say`: the tokens from `first` up to, but not including, `end`."""

    say: int
    first: int
    end: int
    words: tuple[Word, ...] = ()


class HeadStop(msgspec.Struct, frozen=True):
    stop: int


@dataclass
class _Sentence:
    order: HeadOrder
    check: HeadCheck
    since_s: float  # time of the last frame, or of the order
    word: int = 0  # first character of the word that is being said
    said: int = 0  # `word` at the last frame that had energy
    words: list[Word] = field(default_factory=list)  # not begun yet


Reply = tuple[dict[str, object], Samples | None]


class HeadSentences:
    """Says one sentence at a time. `dbfs`: the head's loudness. `wait_s`: timeout for states."""

    def __init__(self, runs: HeadRuns, dbfs: float, wait_s: float = WAIT_S) -> None:
        self._runs = runs
        self._dbfs = dbfs
        self._wait_s = wait_s
        self._sentence: _Sentence | None = None
        self._sent: list[MadeFrame] = []  # frames sent for the last sentence, finished or not

    @property
    def busy(self) -> bool:
        return self._sentence is not None

    def say(self, order: HeadOrder, now_s: float) -> None:
        """Start a sentence; it replaces an unfinished one. A prepared sentence may be ordered again
        with another end: the frames of its tokens are then sent once more."""
        again = [frame for frame in self._sent if frame.serial >= order.first]
        self._runs.made.extendleft(reversed(again))
        self._sent.clear()
        check = HeadCheck(self._dbfs, max(1, len(order.words)))
        self._sentence = _Sentence(order, check, now_s, words=list(order.words))

    def stop(self, number: int) -> Iterator[Reply]:
        """Stop a sentence."""
        if self._sentence is not None and self._sentence.order.say == number:
            self._sentence = None
        yield {"done": number}, None

    def replies(self, now_s: float) -> Iterator[Reply]:
        """The replies about the sentence that are due now."""
        while (sentence := self._sentence) is not None:
            order, made = sentence.order, self._runs.made
            self._runs.drop_before(order.first)
            if made and made[0].serial < order.end:
                frame = made.popleft()
                self._sent.append(frame)
                sentence.since_s = now_s
                words = self._words(sentence, frame.serial)
                problem = sentence.check.add(frame.samples, frame.codes)
                if sentence.check.loud:
                    sentence.said = sentence.word
                if problem:
                    yield self._unsayable(problem)
                    return
                reply = {"sound": order.say, "frames": len(frame.samples), "words": words}
                yield reply, frame.samples
            elif made or self._runs.done >= order.end - 1:
                yield self._end(sentence)
            elif now_s - sentence.since_s > self._wait_s:
                yield self._unsayable("its states did not arrive")
            else:
                return

    def _words(self, sentence: _Sentence, serial: int) -> list[Word]:
        """The words that begin with this frame: those whose tokens are not behind its token."""
        started: list[Word] = []
        first = sentence.order.first
        while sentence.words and first + sentence.words[0][2] <= serial:
            begin, end, _ = sentence.words.pop(0)
            started.append((begin, end, 0))
            sentence.word = begin
        return started

    def _end(self, sentence: _Sentence) -> Reply:
        order = sentence.order
        problem = self._runs.problem(order.first, order.end) or sentence.check.end()
        if problem:
            return self._unsayable(problem)
        self._sentence = None
        return {"done": order.say}, None

    def _unsayable(self, problem: str) -> Reply:
        sentence, self._sentence = self._sentence, None
        assert sentence is not None
        number, said = sentence.order.say, sentence.said
        return {"failed": number, "why": problem, "unsayable": True, "said": said}, None
