"""Gemma on this box for the thinker; evaluates no token twice (incremental_prefill.py).

In: the conversation. Out: the answer's text as it is sampled. Interrupted answers, pruning and
forgetting need no special code: each gives a new prompt that shares a prefix with the last one.
"""

from __future__ import annotations

import functools
import logging
import time
from collections.abc import Generator, Iterable, Iterator, Sequence
from pathlib import Path
from weakref import WeakKeyDictionary

import numpy as np

from appliance.errors import ModelError
from appliance.models.local_model import LocalModel
from appliance.runtime.ipc.token_states import StateWriter
from appliance.settings import ThinkingSettings
from appliance.think import prompt
from appliance.think.answer_ahead import AnswerAhead
from appliance.think.answer_drawing import AnswerDrawing, AnswerPiece
from appliance.think.audio_embeddings import AudioEmbeddingCache, Ids
from appliance.think.context import SEQUENCES, TOGETHER
from appliance.think.encoded_sound import SoundEncoder
from appliance.think.gemma import Gemma
from appliance.think.history import History, HistoryTurn, SpeechClip
from appliance.think.incremental_prefill import IncrementalPrefill
from appliance.think.interface import AnswerMetrics
from appliance.think.mark_tokens import tags_of
from appliance.think.opening import Opening
from appliance.think.prompt_state_cache import PromptStateCache, model_identity
from appliance.think.pruning import HistoryPruning
from appliance.think.recall_cache import RecallCache
from appliance.think.snapshot_store import Snapshots
from appliance.think.spoken_states import states_of
from appliance.think.template_check import PromptStyle
from appliance.think.tokenized_prompt import PromptRun, TokenizedPrompt
from appliance.think.transcription import LocalTranscription
from appliance.tools.table import Tool

SPARE_TOKENS = 200  # for a short question, beside the room for its answer; freed while idle
CLOSE_S = 1.0  # timeout for pending writes to the SD card
PATIENCE_S = 60.0  # the slowest step is a batch of tokens: 9 s on a Pi (estimated)

log = logging.getLogger("thinker")


class LocalGemma:
    """A LanguageModel (interface.py) on this box."""

    patience_s = PATIENCE_S

    def __init__(
        self,
        model: LocalModel,
        thinking: ThinkingSettings,
        threads: int,
        tools: Sequence[Tool] = (),
        engine: type[Gemma] = Gemma,
        openings: PromptStateCache | None = None,
        memory: Path | None = None,
        recall_turns: int = 0,
        encoder: SoundEncoder | None = None,
        states: StateWriter | None = None,
    ) -> None:
        """`openings`: saves the state of the opening; None: it is not saved. `memory`: the state of
        the last `recall_turns` turns is saved beside this file; None: it is not saved.
        `encoder`: replaces llama.cpp's. `states`: receives the hidden states of answer tokens."""
        self.name = model.name
        self.style = PromptStyle.of(model, thinking, tools)
        self._persona, self._tools = self.style.persona, self.style.tools
        self._answer_tokens = thinking.answer_tokens
        self._gemma = engine(
            model.text,
            model.audio,
            context_tokens=min(thinking.context_tokens, model.context_tokens),
            threads=threads,
            sampling=model.sampling.with_owner(thinking),
            seed=thinking.seed,
            encoder=encoder,
        )
        self._reader, self._spare = (
            IncrementalPrefill(self._gemma, number) for number in range(SEQUENCES)
        )
        self._ahead = AnswerAhead(self._gemma)
        self._states = None if states is None else states_of(self._gemma, states)
        self._preparing = False  # the running evaluation is of no use to a question
        self._clips = AudioEmbeddingCache(self._gemma.encode_sound)
        self._tokens = functools.lru_cache(maxsize=2048)(self._tokenize)
        try:
            self._tags = tags_of(self._gemma.vocabulary, model.text)
        except ModelError:
            self._gemma.close()
            raise
        self._transcribes = model.transcribes
        self._transcription = LocalTranscription(self._gemma.model, self._gemma.vocabulary, threads)
        self._transcripts: WeakKeyDictionary[SpeechClip, str | None] = WeakKeyDictionary()
        identity = model_identity(model.text) if openings or memory else b""
        opening = self._tokenize_prompt(prompt.opening(self._persona, self._tools))
        self._opening = Opening(opening, self._gemma, openings, identity)
        room = self._gemma.context_tokens - len(self._opening)  # for turns and the next answer
        reserve = min(self._answer_tokens, room // 4)
        if room < 64:
            self._gemma.close()
            raise ModelError(
                f"Persona and tools take {len(self._opening)} of the model's "
                f"{self._gemma.context_tokens} tokens.",
                "Shorten `thinking.persona` or raise `thinking.context_tokens`.",
            )
        self._capacity = room - reserve  # maximum tokens of all turns
        self._limit = min(self._capacity, model.history_tokens)  # maximum for several turns
        self._budget = min(thinking.history_tokens, self._limit)
        spare = min(reserve + SPARE_TOKENS, self._budget // 4)
        self._pruning = HistoryPruning(self._budget, self._budget - spare, self._size)
        self._openings = openings
        self._pruned = False  # the spare sequence is in use for the shorter prompt
        self.recall_cache: RecallCache | None = None
        if memory is not None and recall_turns:
            stable = len(self._opening) + self._budget // 2
            saved = Snapshots(memory, identity + self._gemma.fingerprint)
            self.recall_cache = RecallCache(
                saved, recall_turns, stable, self._recalled, lambda: self._spare, self._read_recall
            )

    @property
    def template(self) -> str | None:
        """The chat template in the model's file, to compare the prompt with."""
        return self._gemma.vocabulary.template

    @property
    def progress(self) -> int:
        return self._gemma.progress + self._transcription.progress

    def answer(self, history: History, effort: AnswerMetrics) -> Iterator[AnswerPiece]:
        turn = history.last
        assert turn is not None
        started_s = time.monotonic()
        for clip in turn.clips:
            self._clips.encode_whole(clip)
        effort.encode_ms = 1000 * (time.monotonic() - started_s)
        started_s, read = time.monotonic(), self._gemma.read
        drawing = None
        if self._ahead.started:
            drawing = self._ahead.take(self._prompt(history, open_last=True))
            self._reader.select()  # preparing a restart selects the spare sequence
        if drawing is None:
            self._opening.open(self._reader, whole=True)
            self._make_room(history, turn)
            tokenized = self._prompt(history, open_last=True)
            self._restore_prefix(tokenized)
            self._reader.prefill(tokenized, draw=True)
            drawing = self._drawing()
        effort.read = self._gemma.read - read
        effort.prefill_ms = 1000 * (time.monotonic() - started_s)
        effort.drawn_ahead, effort.thrown_away = drawing.drawn_ahead, self._ahead.pop_thrown_away()
        try:
            yield from drawing.pieces()
        finally:
            effort.tokens, effort.limited = len(drawing.tokens), drawing.limited
        if drawing.complete:
            turn.tokens = drawing.tokens

    def encode_ahead(self, clip: SpeechClip) -> None:
        self._clips.encode_whole(clip)

    def prefill_partial(self, history: History, *, likely_all: bool) -> None:
        turn = history.last
        assert turn is not None
        encoded = self._clips.encode_partial(turn.clips[-1], whole=likely_all)
        if not len(encoded.ids) or self._opening.state is None or self._size(history) > self._limit:
            return  # the opening comes first; room is made only for a complete question
        tokenized = self._prompt(history, open_last=True)
        if not likely_all:
            first = int(np.flatnonzero(tokenized.ids == encoded.ids[0])[0])
            tokenized = tokenized.until(first + encoded.sound.final)
            unread = len(tokenized) - max(first, tokenized.common(self._reader.held))
            tokenized = tokenized.until(len(tokenized) - unread % TOGETHER)
        self._ahead.drop()
        self._opening.restore_if_needed(self._reader, tokenized)
        self._reader.prefill(tokenized, draw=likely_all)

    def draw_ahead(self, history: History) -> Generator[AnswerPiece]:
        if self._opening.state is None or self._size(history) > self._limit:
            return  # as in `prefill_partial`
        self._ahead.drop()
        tokenized = self._prompt(history, open_last=True)
        self._opening.restore_if_needed(self._reader, tokenized)
        self._reader.prefill(tokenized, draw=True)
        yield from self._ahead.draw(tokenized, self._drawing())

    def prefill_idle(self, history: History) -> bool:
        if history.last is not None and not history.last.answered:
            return True  # the next question joins this one, so its prefill stays useful
        self._ahead.drop()
        if not self._opening.open(self._reader, whole=False):
            return False
        if self._size(history) > self._limit:
            self._shorten(history)
            if self._size(history) > self._capacity:
                history.forget()  # a single turn that exceeds the context
        tokenized = self._prompt(history, open_last=False)
        self._restore_prefix(tokenized)
        if not self._reader.prefill_piece(tokenized):
            return False
        shorter = self._pruning.shorter(history)
        self._pruned = shorter is not None
        if shorter is None:
            return True
        if not self._prefill_spare(self._prompt(shorter, open_last=False)):
            return False
        if self._pruning.due(history):
            self._swap_sequences(history, shorter)
            return False
        return True

    def preempt_idle(self) -> None:
        if self._preparing:
            self._gemma.interrupt()

    def transcribe(self, clips: Sequence[SpeechClip]) -> str:
        if not self._transcribes:
            return ""
        for clip in clips:
            if clip not in self._transcripts:
                self._clips.encode_whole(clip)
                request = self._tokenize_prompt(prompt.transcription_request(clip))
                self._transcripts[clip] = self._transcription.transcribe(clip, request)
        texts = [self._transcripts[clip] for clip in clips]
        return "" if None in texts else " ".join(filter(None, texts))

    def interrupt(self) -> None:
        self._gemma.interrupt()
        self._transcription.interrupt()

    def resume(self) -> None:
        self._gemma.resume()
        self._transcription.resume()

    def close(self) -> None:
        self._transcription.stop()
        if self._openings is not None:
            self._openings.wait_written(CLOSE_S)
        if self.recall_cache is not None:
            self.recall_cache.wait(CLOSE_S)
        self._gemma.close()

    def _restore_prefix(self, tokenized: TokenizedPrompt) -> None:
        """Restore the saved prefix of `tokenized`, at least the opening."""
        if self.recall_cache is not None:
            self.recall_cache.restore(self._reader, tokenized)
        self._opening.restore_if_needed(self._reader, tokenized)

    def _recalled(self, turns: Sequence[HistoryTurn]) -> TokenizedPrompt:
        """Return the prompt that `prefill_idle` would build of these turns after a start."""
        history = History()
        history.turns = list(turns)
        self._shorten(history)
        if self._size(history) > self._capacity:
            history.forget()
        return self._prompt(history, open_last=False)

    def _read_recall(self, tokenized: TokenizedPrompt) -> bool:
        """Prefill a piece of a restart's prompt, unless pruning needs the spare sequence. Return
        whether nothing is left to do. Raises AnswerAbandoned."""
        return self._pruned or self._prefill_spare(tokenized)

    def _prefill_spare(self, tokenized: TokenizedPrompt) -> bool:
        """Prefill a piece of a prompt in the spare sequence. Return whether all of it is held. A
        question interrupts it, since it does not need it. Raises AnswerAbandoned."""
        self._ahead.drop()  # it would continue in the selected sequence
        self._opening.restore_if_needed(self._spare, tokenized)
        self._preparing = True
        try:
            return self._spare.prefill_piece(tokenized)
        finally:
            self._preparing = False

    def _swap_sequences(self, history: History, shorter: History) -> None:
        """Drop the oldest turns and swap to the sequence that was prepared without them."""
        self._pruning.drop(history, shorter)
        self._reader, self._spare = self._spare, self._reader

    def _make_room(self, history: History, turn: HistoryTurn) -> None:
        """Drop what is necessary for `turn`, the last one, and its answer to fit."""
        if self._size(history) > self._limit and (shorter := self._pruning.shorter(history)):
            self._swap_sequences(history, shorter)
        self._shorten(history)
        while len(turn.clips) > 1 and self._size(history) > self._capacity:
            log.warning("dropped %.0f s of a long question", len(turn.clips[0].samples) / 16_000)
            turn.clips = turn.clips[1:]

    def _shorten(self, history: History) -> None:
        """Over the limit, drop the oldest turns down to half of the budget."""
        if self._size(history) > self._limit:
            while self._size(history) > self._budget // 2 and history.drop_oldest():
                pass

    def _size(self, history: History) -> int:
        """Return the number of tokens of all turns."""
        open_last = history.last is not None and not history.last.answered
        parts = self._parts("", history, open_last)
        return sum(len(self._content(part)) for part in parts) - 1  # <bos>

    def _drawing(self) -> AnswerDrawing:
        """Return an answer that starts at the end of the reader's sequence."""
        max_tokens = min(self._answer_tokens, self._gemma.context_tokens - self._gemma.position)
        on_end = self._reader.record_sampled
        return AnswerDrawing(self._gemma, self._tags, max_tokens, on_end, self._states)

    def _prompt(self, history: History, *, open_last: bool) -> TokenizedPrompt:
        return self._tokenize_prompt(self._parts(self._persona, history, open_last, self._tools))

    def _parts(
        self, persona: str, history: History, open_last: bool, tools: Sequence[Tool] = ()
    ) -> Iterator[prompt.PromptPart]:
        return prompt.render(
            persona, history, open_last=open_last, tools=tools, instruction=self.style.instruction
        )

    def _tokenize_prompt(self, parts: Iterable[prompt.PromptPart]) -> TokenizedPrompt:
        runs: list[PromptRun] = []
        ids: list[Ids] = []
        for part in parts:
            if isinstance(part, SpeechClip):
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
        return TokenizedPrompt(tuple(runs), np.concatenate(ids))

    def _content(self, part: prompt.PromptPart) -> PromptRun:
        if isinstance(part, SpeechClip):
            return self._clips[part].rows
        return part.tokens if isinstance(part, prompt.SampledTokens) else self._tokens(part)

    def _tokenize(self, part: prompt.ControlText | prompt.PlainText) -> tuple[int, ...]:
        return tuple(self._gemma.tokenize(part.text, marks=isinstance(part, prompt.ControlText)))
