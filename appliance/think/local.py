"""Gemma on this box, as the thinker wants it: nothing is read twice (reading.py).

In: the conversation. Out: the answer's text as it is drawn. Interrupted answers, pruning and
forgetting need no cases of their own: each is another prompt that begins like the one before.
"""

from __future__ import annotations

import codecs
import functools
import logging
import time
from collections.abc import Iterable, Iterator, Sequence
from weakref import WeakKeyDictionary

import numpy as np

from appliance.errors import ModelError
from appliance.ipc.ring import Samples
from appliance.settings import Thinking
from appliance.think import prompt
from appliance.think.called import with_calls
from appliance.think.clips import Clips, Ids
from appliance.think.dictation import Dictation
from appliance.think.gemma import Gemma, Rows
from appliance.think.history import Clip, History, Turn
from appliance.think.model import Abandoned, Effort, LocalModel
from appliance.think.reading import Reader
from appliance.think.tags import SILENT, TextFilter
from appliance.think.tape import Run, Tape
from appliance.think.template import Way
from appliance.tools.calls import QUOTE, BadCall, Call
from appliance.tools.table import Tool

MARKS = ("<bos>", "<|turn>", "<turn|>", "<|audio>", "<audio|>")
SPARE_TOKENS = 200  # a short question beside the answer that is to come: room made while idle
PATIENCE_S = 60.0  # 28 s of sound take up to 13 s to encode on a Pi, 512 tokens 18 s (estimated)

log = logging.getLogger("thinker")


class LocalGemma:
    """A Model (see model.py) on this box."""

    patience_s = PATIENCE_S

    def __init__(
        self,
        model: LocalModel,
        thinking: Thinking,
        threads: int,
        tools: Sequence[Tool] = (),
        engine: type[Gemma] = Gemma,
    ) -> None:
        self.name = model.name
        self.way = Way.of(model, thinking, tools)
        self._persona, self._tools = self.way.persona, self.way.tools
        self._answer_tokens = thinking.answer_tokens
        self._gemma = engine(
            model.text,
            model.audio,
            context_tokens=min(thinking.context_tokens, model.context_tokens),
            threads=threads,
            sampling=model.sampling.with_owner(thinking),
            seed=thinking.seed,
        )
        self._reader = Reader(self._gemma)
        self._clips = Clips(self._encode)
        self._tokens = functools.lru_cache(maxsize=2048)(self._tokenize)
        self._tags = self._check_vocabulary(model)
        self._transcribes = model.transcribes
        self._dictation = Dictation(self._gemma.model, self._gemma.vocabulary, threads)
        self._written: WeakKeyDictionary[Clip, str | None] = WeakKeyDictionary()
        opening = len(self._tape(prompt.opening(self._persona, self._tools)).ids)
        self._room = self._gemma.context_tokens - opening  # for turns, questions and answers
        self._reserve = min(self._answer_tokens, self._room // 4)
        self._budget = min(
            thinking.history_tokens, model.history_tokens, self._room - self._reserve
        )
        if self._room < 64:
            self._gemma.close()
            raise ModelError(
                f"Persona and tools take {opening} of the model's {self._gemma.context_tokens} "
                "tokens.",
                "Shorten `thinking.persona` or raise `thinking.context_tokens`.",
            )

    @property
    def template(self) -> str | None:
        """The chat template that the model brings, to compare the prompt with."""
        return self._gemma.vocabulary.template

    @property
    def pulse(self) -> int:
        return self._gemma.pulse + self._dictation.pulse

    # ── the Model ────────────────────────────────────────────────────────────────────────────
    def answer(self, history: History, effort: Effort) -> Iterator[str | Call | BadCall]:
        turn = history.last
        assert turn is not None
        began_s = time.monotonic()
        for clip in turn.clips:
            self._clips[clip]
        effort.encode_ms = 1000 * (time.monotonic() - began_s)
        began_s = time.monotonic()
        self._make_room(history, spare=0)
        self._shorten(history, turn)
        effort.read = self._reader.read(self._prompt(history, open_last=True), draw=True)
        effort.prefill_ms = 1000 * (time.monotonic() - began_s)
        yield from self._draw(turn, effort)

    def prepare(self, clip: Clip) -> None:
        self._clips[clip]

    def overhear(self, history: History, *, likely_all: bool) -> None:
        turn = history.last
        assert turn is not None
        encoded = self._clips.overhear(turn.clips[-1])
        if self._size(history) > self._budget:
            return  # room must be made first, and that waits for the question
        tape = self._prompt(history, open_last=True)
        if not likely_all:
            newest = int(np.flatnonzero(tape.ids == encoded.ids[-1])[0])
            tape = tape.until(newest)
        self._reader.read(tape, draw=False)

    def settle(self, history: History) -> bool:
        if history.last is not None and not history.last.answered:
            return True  # what is held of its question will serve the next, which it joins
        self._make_room(history, spare=min(self._reserve + SPARE_TOKENS, self._budget // 4))
        if self._size(history) > self._room - self._reserve:
            history.forget()  # one turn, longer than the model can hold
        return self._reader.read_piece(self._prompt(history, open_last=False))

    def transcribe(self, clips: Sequence[Clip]) -> str:
        if not self._transcribes:
            return ""
        for clip in clips:
            if clip not in self._written:
                request = self._tape(prompt.dictation(clip))
                self._written[clip] = self._dictation.write(clip, request)
        texts = [self._written[clip] for clip in clips]
        return "" if None in texts else " ".join(filter(None, texts))

    def interrupt(self) -> None:
        self._gemma.interrupt()
        self._dictation.interrupt()

    def resume(self) -> None:
        self._gemma.resume()
        self._dictation.resume()

    def close(self) -> None:
        self._dictation.stop()
        self._gemma.close()

    # ── room ─────────────────────────────────────────────────────────────────────────────────
    def _make_room(self, history: History, spare: int) -> None:
        """Drop the oldest turns if they are too many.

        Everything behind a dropped turn must be read again, since it had seen that turn. So
        half of the budget is freed at once, seldom, and `settle` does it while nobody waits.
        """
        if self._size(history) <= self._budget - spare:
            return
        before = len(history.turns)
        while self._size(history) > self._budget // 2 and history.drop_oldest():
            pass
        if dropped := before - len(history.turns):
            log.info("forgot the oldest %d of %d turns to make room", dropped, before)

    def _shorten(self, history: History, turn: Turn) -> None:
        """A single question that is longer than the model can hold loses its oldest sound."""
        while len(turn.clips) > 1 and self._size(history) > self._room - self._reserve:
            log.warning("dropped %.0f s of a long question", len(turn.clips[0].samples) / 16_000)
            turn.clips = turn.clips[1:]

    def _size(self, history: History) -> int:
        """Tokens of all turns."""
        open_last = history.last is not None and not history.last.answered
        parts = self._parts("", history, open_last)
        return sum(len(self._content(part)) for part in parts) - 1  # <bos>

    # ── drawing ──────────────────────────────────────────────────────────────────────────────
    def _draw(self, turn: Turn, effort: Effort) -> Iterator[str | Call | BadCall]:
        """Draw tokens up to the end; their text, without thoughts, and calls, as they come."""
        limit = min(self._answer_tokens, self._gemma.context_tokens - self._gemma.position)
        tokens: list[int] = []
        tags = TextFilter()
        decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        written = spoken = 0
        try:
            while not self._gemma.interrupted:
                token = self._gemma.draw()
                if self._gemma.is_end(token):
                    break
                if len(tokens) >= limit:
                    effort.limited = True
                    break
                tokens.append(token)
                effort.tokens += 1
                piece = self._tags.get(token) or decode(self._gemma.piece(token))
                written += len(piece)
                for part in with_calls(tags.split(piece)):
                    spoken += len(part) if isinstance(part, str) else 0
                    yield part
                self._gemma.feed([token], last=True)
            else:
                raise Abandoned
        finally:
            self._reader.drew(tokens)
        rest = decode(b"", True)
        for part in with_calls([*tags.split(rest), *tags.end()]):
            spoken += len(part) if isinstance(part, str) else 0
            yield part
        if written + len(rest) == spoken:  # nothing was left out
            turn.tokens = tokens

    # ── prompts ──────────────────────────────────────────────────────────────────────────────
    def _prompt(self, history: History, *, open_last: bool) -> Tape:
        return self._tape(self._parts(self._persona, history, open_last, self._tools))

    def _parts(
        self, persona: str, history: History, open_last: bool, tools: Sequence[Tool] = ()
    ) -> Iterator[prompt.Part]:
        return prompt.render(
            persona, history, open_last=open_last, tools=tools, instruction=self.way.instruction
        )

    def _tape(self, parts: Iterable[prompt.Part]) -> Tape:
        runs: list[Run] = []
        ids: list[Ids] = []
        for part in parts:
            if isinstance(part, Clip):
                encoded = self._clips[part]
                ids.append(encoded.ids)
                runs.append(encoded.rows)
                continue
            content = self._content(part)
            ids.append(np.array(content, np.int64))
            if runs and isinstance(runs[-1], tuple) and isinstance(content, tuple):
                runs[-1] += content
            else:
                runs.append(content)
        return Tape(tuple(runs), np.concatenate(ids))

    def _content(self, part: prompt.Part) -> Run:
        if isinstance(part, Clip):
            return self._clips[part].rows
        return part.tokens if isinstance(part, prompt.Drawn) else self._tokens(part)

    def _encode(self, samples: Samples) -> Rows:
        if self._gemma.interrupted:
            raise Abandoned
        return self._gemma.encode(samples)

    def _tokenize(self, part: prompt.Marks | prompt.Words) -> tuple[int, ...]:
        return tuple(self._gemma.tokenize(part.text, marks=isinstance(part, prompt.Marks)))

    def _check_vocabulary(self, model: LocalModel) -> dict[int, str]:
        """The tags that are single tokens. Raises ModelError if Gemma's own marks are not."""
        for mark in MARKS:
            if len(self._gemma.tokenize(mark, marks=True)) != 1:
                self._gemma.close()
                raise ModelError(f"The vocabulary of {model.text} has no mark {mark}.")
        tags = {}
        for tag in (*SILENT, *SILENT.values(), QUOTE):
            ids = self._gemma.tokenize(tag, marks=True)
            if len(ids) == 1:
                tags[ids[0]] = tag
        return tags
