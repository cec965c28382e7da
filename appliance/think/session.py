"""The LLM session: applies the thinker's messages to the history and to the model.

In: questions, the heard text of answers, requests to forget. Out: sentences. It has no access to
rings and channels. All methods but `drop_up_to`, `preempt_idle` and `stop` belong to one thread.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Literal

from appliance.errors import InterludeError
from appliance.messages.registry import Message
from appliance.messages.thinking import (
    AnswerBegun,
    RecallWanted,
    Sentence,
    ThoughtEnded,
    Transcribed,
)
from appliance.messages.tools import ToolCalled
from appliance.think.abandoned import AnswerAbandoned
from appliance.think.history import History, HistoryTurn, SpeechClip, ToolUse, recalled
from appliance.think.interface import AnswerMetrics, LanguageModel
from appliance.think.sentence_tokens import FoundSentence, SentenceStream
from appliance.think.snapshot_schedule import SnapshotSchedule
from appliance.think.tool_call_stream import MOST_CALLS
from appliance.tools.tool_call_syntax import BadToolCall, ToolCall

if TYPE_CHECKING:
    from appliance.think.recall_cache import RecallCache  # would import llama.cpp

BAD_CALL = "Sorry, I tried to do that and got it wrong. Please ask me again."


class ModelSession:
    """One conversation. `clock` returns seconds. `recall_turns`: minimum number of turns to recall
    at a start (recall_cache.py). `snapshot_schedule`: when to prepare the next start."""

    def __init__(
        self,
        model: LanguageModel,
        send: Callable[[Message], object],
        clock: Callable[[], float] = time.monotonic,
        recall_turns: int = 12,
        snapshot_schedule: SnapshotSchedule | None = None,
    ) -> None:
        self.model = model
        self._recall_turns = recall_turns
        self._snapshot_schedule = snapshot_schedule or SnapshotSchedule()
        self.history = History()
        self._send = send
        self._clock = clock
        self._reloading = False  # the next Recall replaces the history after `reload_history`
        # Guards the fields below, but `recalled` and `_holds_partial`, and the interruption.
        self._lock = threading.Lock()
        self._current_turn: int | None = None
        self._transcribing = False  # a transcription runs, which any other work may interrupt
        self._dropped_up_to = -1
        self.recalled = False  # the first Recall has arrived, even if it had no turns
        self._prefilling_idle = False
        self._speculative_clip: SpeechClip | None = None  # is being encoded ahead of its question
        self._holds_partial = False  # the context holds a partial question, which idle work keeps

    def drop_up_to(self, turn: int) -> None:
        """Drop answers up to `turn`; interrupt the model if it is working on one of them."""
        with self._lock:
            self._dropped_up_to = max(self._dropped_up_to, turn)
            if self._current_turn is not None and self._current_turn <= self._dropped_up_to:
                self.model.interrupt()

    def preempt_idle(self, question: Iterable[SpeechClip] | None = None) -> None:
        """Interrupt idle work of no use to a new job. `question`: the clips of a question that is
        to be answered; encoding ahead ends unless its clip is the start of one of these."""
        with self._lock:
            if self._transcribing:
                self.model.interrupt()
            if self._prefilling_idle:
                self.model.preempt_idle()
            if (ahead := self._speculative_clip) is None or question is None:
                return
            if not any(clip.begins_with(ahead) for clip in question):
                self.model.interrupt()

    def stop(self) -> None:
        """Interrupt the model and keep it interrupted."""
        with self._lock:
            self._dropped_up_to = 2**63
            self.model.interrupt()

    def think(self, turn: int, clips: Iterable[SpeechClip], text: str, asked_s: float) -> None:
        """Answer a question: send sentences and calls, and always one ThoughtEnded."""
        self._note_activity()
        entry = self.history.add_turn(turn, clips, text)
        effort = AnswerMetrics()
        stream = _AnswerStream(entry, self._send, lambda: 1000 * (self._clock() - asked_s))
        problem = aloud = ""
        reason: Literal["complete", "limit", "abandoned", "failed"]
        started_s = self._clock()
        try:
            self._start_turn(turn)
            for piece in self.model.answer(self.history, effort):
                stream.push(piece)
            stream.flush()
            reason = "limit" if effort.limited else "complete"
            if not stream.has_output:
                self.history.fail(turn)
        except AnswerAbandoned:
            reason = "abandoned"
            self.history.abandon(turn)
        except InterludeError as error:
            reason, problem, aloud = "failed", str(error), error.aloud
            if not stream.has_output:
                self.history.fail(turn)
        finally:
            self._finish_work()
        drawing_s = self._clock() - started_s - (effort.encode_ms + effort.prefill_ms) / 1000
        self._send(
            ThoughtEnded(
                turn, stream.sentences, reason, problem, effort.tokens, effort.encode_ms,
                effort.prefill_ms, stream.first_ms,
                (effort.tokens - effort.drawn_ahead) / drawing_s if drawing_s > 0 else 0.0,
                effort.read, aloud, effort.drawn_ahead, effort.thrown_away,
                max(0.0, 1000 * (started_s - asked_s)),
            )
        )  # fmt: skip

    def abandon(self, turn: int) -> None:
        self.history.abandon(turn)

    def record_heard(self, turn: int, text: str, *, complete: bool) -> None:
        self._note_activity()
        if self.model.recall_cache is not None:
            self.model.recall_cache.count_turn()
        self.history.record_heard(turn, text, complete=complete)

    def record_tool_answer(self, turn: int, call: int, text: str) -> None:
        self.history.record_tool_answer(turn, call, text)

    def load_turns(self, turns: Iterable[tuple[str, str, str]]) -> None:
        """Load the recalled turns; in later calls, prepare these turns for the next start."""
        turns = [turn for turn in turns if turn[2].strip()]  # only those with heard text
        earlier = recalled(turns)
        recall_cache = self.model.recall_cache
        if self._reloading:
            self._reloading = False
            self.history.load_turns(turns[-self._recall_turns :] if self._recall_turns else [])
            return
        if self.recalled:
            if recall_cache is not None:
                recall_cache.set_turns(earlier)
                self._snapshot_schedule.mark_received()
            return
        count = min(self._recall_turns, len(turns))
        if recall_cache is not None:
            count = recall_cache.load(earlier)
        self.history.load_turns(turns[len(turns) - count :])
        self.recalled = True
        self._snapshot_schedule.restart(self._clock())

    def forget(self, *, last: bool = False) -> None:
        self._note_activity()
        if self.model.recall_cache is not None:
            self.model.recall_cache.forget()
        (self.history.forget_last if last else self.history.forget)()

    def reload_history(self) -> None:
        """Clear the history and request the turns that are left in the memory."""
        self.forget()
        self._reloading = True
        self._send(RecallWanted())

    def encode_ahead(self, clip: SpeechClip) -> None:
        """Encode a clip while the owner is still speaking. Raises AnswerAbandoned."""
        with self._encoding_ahead(clip):
            self.model.encode_ahead(clip)

    def prefill_partial(self, clips: Iterable[SpeechClip], *, likely_all: bool) -> None:
        """Prefill `clips`, the question so far, while the owner is still speaking."""
        if self.history.last_unsettled:
            return  # the last answer may still change, and the prefill would not match
        self._holds_partial = True
        question = self.history.with_question(clips)
        assert question.last is not None
        with self._encoding_ahead(question.last.clips[-1]):
            self.model.prefill_partial(question, likely_all=likely_all)

    def draw_ahead(self, clips: Iterable[SpeechClip], wanted: Callable[[], bool]) -> None:
        """Start the answer to a prefilled question that may be complete, until `wanted`. Send its
        first words, so that the voice can prepare them. Raises AnswerAbandoned."""
        if self.history.last_unsettled or wanted():
            return
        question = self.history.with_question(clips)
        assert question.last is not None
        with (
            self._encoding_ahead(question.last.clips[-1]),
            contextlib.closing(self.model.draw_ahead(question)) as pieces,
        ):
            text: SentenceStream | None = SentenceStream()
            for piece in pieces:
                if not isinstance(piece, str):
                    return  # a tool runs only once the question is complete
                if text is not None and (first := text.push(piece)):
                    self._send(AnswerBegun(*first[0]))
                    text = None
                if wanted():
                    return
            if text is not None and (rest := text.flush()):  # ended before the first clause did
                self._send(AnswerBegun(*rest[0]))

    @contextlib.contextmanager
    def _encoding_ahead(self, clip: SpeechClip) -> Iterator[None]:
        """Mark `clip` as being encoded ahead, so that a question without it interrupts this."""
        with self._lock:
            self._speculative_clip = clip
        try:
            with contextlib.suppress(InterludeError):  # the question will raise and report it again
                yield
        finally:
            self._finish_work()

    def prefill_idle(self) -> bool:
        """Prefill a piece of the next prompt, while idle. Return whether all of it is done. Raises
        AnswerAbandoned."""
        with self._lock:
            self._prefilling_idle = True
        try:
            return self._holds_partial or self.model.prefill_idle(self.history)
        finally:
            self._finish_work()

    def prepare_next_start(self, wanted: Callable[[], bool]) -> None:
        """Prepare the next start, while idle, as far as the schedule says and until other work is
        `wanted`. Raises AnswerAbandoned."""
        while self.model.recall_cache is not None and self._prepare_step(
            self.model.recall_cache, wanted
        ):
            continue

    def _prepare_step(self, recall_cache: RecallCache, wanted: Callable[[], bool]) -> bool:
        """Do one step of the preparation. Return whether another one may follow at once."""
        now_s = self._clock()
        match self._snapshot_schedule.due(now_s):
            case "ask" if self.history.next_untranscribed is None and recall_cache.may_request():
                self._snapshot_schedule.mark_requested()
                self._send(RecallWanted())
            case "prepare":
                with self._lock:
                    if wanted():
                        return False
                    self._prefilling_idle = True
                try:
                    if recall_cache.prepare():
                        self._snapshot_schedule.mark_prepared()
                finally:
                    self._finish_work()
                return True
            case "write":
                self._snapshot_schedule.mark_written(now_s, anything=recall_cache.save())
        return False

    def save_snapshot(self) -> None:
        """Write what is prepared for the next start; call at an orderly stop."""
        if self.model.recall_cache is not None:
            self.model.recall_cache.save()

    def transcribe_idle(self, wanted: Callable[[], bool]) -> None:
        """Transcribe the oldest settled turn without a transcript, for the memory, unless other
        work is `wanted`. Raises AnswerAbandoned."""
        turn = self.history.next_untranscribed
        with self._lock:
            if turn is None or wanted():
                return
            self._transcribing = True
        try:
            turn.transcript = self.model.transcribe(turn.clips)
        except InterludeError:
            turn.transcript = ""  # a transcript is optional, and the next answer reports the error
        finally:
            with self._lock:
                self._transcribing = False
            self._finish_work()
        if turn.transcript:
            self._send(Transcribed(turn.number, turn.transcript))

    def _note_activity(self) -> None:
        self._holds_partial = False
        self._snapshot_schedule.restart(self._clock())

    def _start_turn(self, turn: int) -> None:
        with self._lock:
            if turn <= self._dropped_up_to:
                raise AnswerAbandoned
            self._current_turn = turn

    def _finish_work(self) -> None:
        with self._lock:
            self._current_turn = self._speculative_clip = None
            self._prefilling_idle = False
            if self._dropped_up_to < 2**63:
                self.model.resume()


class _AnswerStream:
    """Sends one answer while it is generated: complete sentences, and calls between them."""

    def __init__(
        self, entry: HistoryTurn, send: Callable[[Message], object], since_ms: Callable[[], float]
    ) -> None:
        self._entry = entry
        self._send = send
        self._since_ms = since_ms
        self._text = SentenceStream()
        self._bad_call_reported = False
        self.sentences = 0
        self.first_ms = 0.0

    @property
    def has_output(self) -> bool:
        """Whether a sentence or a call was sent."""
        return self.sentences > 0 or bool(self._entry.uses)

    def push(self, piece: str | ToolCall | BadToolCall) -> None:
        if isinstance(piece, str):
            self._entry.answer += piece
            self._send_sentences(self._text.push(piece))
            return
        self.flush()
        number = len(self._entry.uses)
        if isinstance(piece, ToolCall) and number < MOST_CALLS:
            self._entry.uses.append(ToolUse(piece))
            self._send(ToolCalled(self._entry.number, number, piece.name, dict(piece.arguments)))
        elif not self._bad_call_reported:
            self._bad_call_reported = True  # one apology for all bad calls of an answer
            self._entry.answer += f" {BAD_CALL} "
            self._send_sentences([FoundSentence(BAD_CALL)])

    def flush(self) -> None:
        """Send the rest of the text so far."""
        self._send_sentences(self._text.flush())

    def _send_sentences(self, sentences: Iterable[FoundSentence]) -> None:
        for text, tokens in sentences:
            self.first_ms = self.first_ms or self._since_ms()
            self._send(Sentence(self._entry.number, self.sentences, text, tokens))
            self.sentences += 1
