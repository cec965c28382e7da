"""A restart goes on with what was computed of the conversation, and reads only the rest."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from appliance.dialog import memory
from appliance.dialog.memory import Memory
from appliance.dialog.memory_erase import forget_all, forget_last
from appliance.messages.registry import Message
from appliance.messages.thinking import RECALL_TIMES, RecallWanted, ThinkerReady
from appliance.models.local_model import LocalModel
from appliance.runtime.process_table import row
from appliance.settings import Settings, load
from appliance.think.abandoned import AnswerAbandoned
from appliance.think.factory import choose, kept
from appliance.think.history import History, HistoryTurn, recalled
from appliance.think.incremental_prefill import IncrementalPrefill
from appliance.think.interface import AnswerMetrics
from appliance.think.local import LocalGemma
from appliance.think.prompt_state_cache import PromptStateCache
from appliance.think.recall_cache import RecallCache
from appliance.think.session import ModelSession
from appliance.think.snapshot_schedule import PREPARE_S, WRITE_S, SnapshotSchedule
from appliance.think.snapshot_store import Snapshots
from appliance.think.thinker import ModelThread
from appliance.think.tokenized_prompt import TokenizedPrompt
from tests.think.test_local import NOISE, clip, thinking

RECALLED = 3
KEEP = 50
PERSONA = "tell me about the moon " * 60  # beyond the window of 48 tokens
SAID = "tell me about the moon and the big stone"


def never() -> bool:
    return False


class Box:
    """A session with the tiny model, the memory of the box, and a clock. Nobody else waits."""

    def __init__(self, files: LocalModel, folder: Path) -> None:
        self.file = folder / "memory" / "memory.db"
        self.memory = Memory(self.file, KEEP)
        self.model = LocalGemma(
            files, thinking(persona=PERSONA), 1, openings=PromptStateCache(folder / "openings"),
            memory=self.file, recall_turns=RECALLED,
        )  # fmt: skip
        self.now_s = 0.0
        self.asked = False
        self.session = ModelSession(self.model, self._take, lambda: self.now_s, RECALLED)

    def _take(self, message: Message) -> None:
        self.asked = self.asked or isinstance(message, RecallWanted)

    def start(self) -> int:
        """As the thinker begins. Returns how many tokens it read."""
        before = self.model._gemma.read
        self.recall()
        self.settle()
        return self.model._gemma.read - before

    def recall(self) -> None:
        turns = self.memory.recall(RECALL_TIMES * RECALLED)
        self.session.load_turns((turn.asked, turn.transcript, turn.heard) for turn in turns)

    def settle(self) -> None:
        while not self.session.prefill_idle():
            continue

    def turn(self, number: int) -> None:
        heard = f"the moon is a big stone {number}"
        self.session.history.add_turn(number, text=f"{SAID} {number}").set_answer(heard)
        self.session.record_heard(number, heard, complete=True)
        now = datetime.now(UTC).isoformat()
        self.memory.remember(
            memory.RememberedTurn(now, number, f"{SAID} {number}", 0.0, heard, True, "tiny")
        )
        self.settle()

    def rest(self, seconds: float) -> None:
        """Nobody says anything for so long."""
        self.now_s += seconds
        for _ in range(3):  # a file is made, the memory answers, it is read
            self.session.get_ready(never)
            self.wait()
            if self.asked:
                self.asked = False
                self.recall()

    def wait(self) -> None:
        assert self.model.recall_cache is not None
        self.model.recall_cache.wait(10)

    def states(self) -> list[Path]:
        """What is kept, empty files not counted."""
        found = self.file.parent.glob("*.state-*")
        return [path for path in found if path.stat().st_size]

    def stop(self) -> None:
        self.session.leave()
        self.close()

    def close(self) -> None:
        self.model.close()
        self.memory.close()


@pytest.fixture
def box(tiny_model: LocalModel, tmp_path: Path) -> Iterator[Callable[[], Box]]:
    made: list[Box] = []

    def begin() -> Box:
        for before in made:
            before.close()
        made.append(Box(tiny_model, tmp_path))
        return made[-1]

    yield begin
    for each in made:
        each.close()


def talked(it: Box, turns: int, first: int = 0) -> None:
    for number in range(first, first + turns):
        it.turn(number)


def weights(it: Box) -> np.ndarray:
    """Of the first token of the next answer."""
    history = History()
    history.turns = list(it.session.history.turns)
    history.add_turn(99, text="hello")
    next(iter(it.model.answer(history, AnswerMetrics())))
    return it.model._gemma.logits()


Begin = Callable[[], Box]


def test_a_restart_after_a_rest_reads_nothing_and_holds_what_a_fresh_one_would(
    box: Begin, tiny_model: LocalModel, tmp_path: Path
) -> None:
    first = box()
    assert first.start() > 0
    talked(first, 4)
    first.rest(WRITE_S)
    (path,) = first.states()
    assert path.stat().st_mode & 0o777 == 0o600
    second = box()
    assert second.start() == 0
    assert len(second.session.history.turns) == RECALLED
    kept_weights = weights(second)
    (tmp_path / "fresh").mkdir()
    fresh = Box(tiny_model, tmp_path / "fresh")
    for turn in second.memory.recall(RECALLED):
        fresh.memory.remember(turn)
    assert fresh.start() == len(fresh.model._reader.held)
    assert np.abs(kept_weights - weights(fresh)).max() < NOISE
    fresh.close()


def test_of_what_was_said_since_only_that_is_read(box: Begin) -> None:
    first = box()
    first.start()
    talked(first, 4)
    first.rest(WRITE_S)
    talked(first, RECALLED, first=4)
    second = box()
    read = second.start()
    turns = second.session.history.turns
    assert len(turns) == 2 * RECALLED  # it begins where what was kept begins
    since = second.model._recalled(turns[RECALLED:])
    assert read == len(since) - len(second.model._opening)
    assert not second.model._pruned


def test_what_is_no_beginning_of_what_is_recalled_is_erased_and_the_last_turns_are_read(
    box: Begin,
) -> None:
    first = box()
    first.start()
    talked(first, 4)
    first.rest(WRITE_S)
    turns = first.memory.recall(-1)
    first.memory.rewrite(turns[2:])
    second = box()
    read = second.start()
    assert read == len(second.model._reader.held) - len(second.model._opening)
    second.wait()
    assert second.states() == []
    assert len(second.session.history.turns) == 2


def test_the_beginning_stays_while_the_talk_goes_on_and_each_turn_is_read_aside_once(
    box: Begin,
) -> None:
    it = box()
    it.start()
    talked(it, RECALLED)
    it.rest(PREPARE_S)
    read = []
    for number in range(RECALLED, 2 * RECALLED + 1):
        it.turn(number)
        before = it.model._gemma.read
        it.rest(PREPARE_S)
        read.append(it.model._gemma.read - before)
    a_turn = len(it.model._recalled(it.session.history.turns[-1:])) - len(it.model._opening)
    assert max(read[:-1]) < 1.5 * a_turn
    assert read[-1] > 2 * a_turn  # twice as many as are recalled: the last ones are read anew


def test_the_prompt_of_the_same_turns_is_made_once(tmp_path: Path) -> None:
    made: list[int] = []

    def tokenized(turns: Sequence[HistoryTurn]) -> TokenizedPrompt:
        made.append(len(turns))
        ids = np.array([turn.number for turn in turns], np.int64)
        return TokenizedPrompt((tuple(int(number) for number in ids),), ids)

    file = tmp_path / "memory" / "memory.db"
    Memory(file, KEEP).close()
    snapshots = Snapshots(file, b"this model")
    cache = RecallCache(snapshots, 2, 100, tokenized, no_reader, lambda prompt: True)
    turns = [HistoryTurn(number) for number in range(4)]
    while not cache.may_ask():
        assert snapshots.wait(10)
    for count in (2, 3, 4):
        cache.may_ask()
        made.clear()
        cache.want(turns[:count])
        assert made == sorted(set(made), reverse=True)
        assert made[-1] == count
    snapshots.drop()
    assert snapshots.wait(10)


def no_reader() -> IncrementalPrefill:
    raise AssertionError("nothing is read here")


def test_it_is_written_once_for_each_rest_and_only_what_is_new(box: Begin) -> None:
    it = box()
    it.start()
    talked(it, 4)
    it.rest(PREPARE_S)
    assert it.states() == []
    it.rest(WRITE_S)
    (path,) = it.states()
    it.rest(10 * WRITE_S)
    assert it.states() == [path]
    again = box()
    again.start()
    again.rest(WRITE_S)
    assert again.states() == [path]


def test_an_orderly_stop_writes_what_is_prepared(box: Begin) -> None:
    first = box()
    first.start()
    talked(first, 4)
    first.rest(PREPARE_S)
    first.stop()
    assert box().start() == 0


def test_a_stop_in_the_middle_of_a_talk_writes_nothing(box: Begin) -> None:
    first = box()
    first.start()
    talked(first, 4)
    first.stop()
    assert first.states() == []


def test_a_damaged_one_is_read_anew_and_kept_again(box: Begin) -> None:
    first = box()
    first.start()
    talked(first, 4)
    first.rest(WRITE_S)
    (path,) = first.states()
    whole = path.read_bytes()
    path.write_bytes(whole[:-500] + bytes(500))
    second = box()
    assert second.start() == len(second.model._reader.held) - len(second.model._opening)
    second.rest(WRITE_S)
    (again,) = second.states()
    assert len(again.read_bytes()) == len(whole)
    assert box().start() == 0


def test_a_question_before_anything_is_settled_goes_on_with_it_too(box: Begin) -> None:
    first = box()
    first.start()
    talked(first, 4)
    first.rest(WRITE_S)
    second = box()
    second.recall()
    second.session.history.add_turn(9, text="hello")
    effort = AnswerMetrics()
    next(iter(second.model.answer(second.session.history, effort)))
    assert effort.read < 40  # the question and the marks around it


def test_a_question_ends_what_is_read_aside_and_it_is_made_up_for_later(box: Begin) -> None:
    it = box()
    it.start()
    talked(it, 4)

    def asked_meanwhile() -> float:
        it.session.preempt_idle()
        return time.monotonic()

    it.rest(0.0)
    it.model._spare = IncrementalPrefill(it.model._gemma, 1, clock=asked_meanwhile)
    with pytest.raises(AnswerAbandoned):
        it.rest(PREPARE_S)
    it.model._spare = IncrementalPrefill(it.model._gemma, 1)
    it.rest(0.0)
    it.rest(WRITE_S)
    assert it.states()
    assert box().start() == 0


def test_as_soon_as_the_model_is_wanted_nothing_more_is_read(box: Begin) -> None:
    it = box()
    it.start()
    talked(it, 4)
    it.now_s += PREPARE_S
    it.session.get_ready(never)
    it.wait()
    it.session.get_ready(never)
    it.recall()
    before = it.model._gemma.read
    it.session.get_ready(lambda: True)
    assert it.model._gemma.read == before
    it.session.get_ready(never)
    assert it.model._gemma.read > before


def test_nothing_is_kept_before_what_was_said_is_written_down(box: Begin) -> None:
    it = box()
    it.start()
    it.session.think(1, [clip(1)], "", 0.0)
    it.session.record_heard(1, "the moon", complete=True)
    it.rest(PREPARE_S)
    it.rest(PREPARE_S)
    assert not list(it.file.parent.glob("*.state-*"))  # what is recalled will read otherwise
    it.session.transcribe_idle(never)
    it.now_s += PREPARE_S
    it.session.get_ready(never)
    it.wait()
    assert len(list(it.file.parent.glob("*.state-*"))) == 1


# ── forgetting ───────────────────────────────────────────────────────────────────────────────
STAGES = {"kept": WRITE_S, "prepared": PREPARE_S}


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("last", [False, True])
def test_what_is_forgotten_is_not_kept_at_a_stop_either(box: Begin, stage: str, last: bool) -> None:
    it = box()
    it.start()
    talked(it, 4)
    it.rest(STAGES[stage])
    it.memory.close()
    if last:
        forget_last(it.file, KEEP)
    else:
        forget_all(it.file)
    assert it.states() == []  # before the thinker has taken its mail
    it.session.forget(last=last)
    it.settle()
    it.stop()
    assert it.states() == []


def test_what_was_recalled_before_a_forgetting_is_not_written_after_it(box: Begin) -> None:
    """A forgetting of which the thinker is never told."""
    it = box()
    it.start()
    talked(it, 4)
    it.rest(PREPARE_S)
    it.memory.close()
    forget_last(it.file, KEEP)
    it.memory = Memory(it.file, KEEP)
    it.session.record_heard(99, "", complete=True)
    it.now_s += PREPARE_S
    it.session.get_ready(never)
    it.wait()
    it.session.get_ready(never)  # asked anew; the answer has not come
    assert it.asked
    it.stop()
    assert it.states() == []


def test_after_forgetting_from_what_was_kept_the_opening_is_not_read_again(box: Begin) -> None:
    first = box()
    first.start()
    talked(first, 4)
    first.rest(WRITE_S)
    second = box()
    second.start()
    before = second.model._gemma.read
    second.session.forget(last=True)
    second.settle()
    read = second.model._gemma.read - before
    assert read <= len(second.model._reader.held) - len(second.model._opening)


def test_what_begins_with_a_turn_that_is_long_over_is_erased(box: Begin) -> None:
    it = box()
    it.start()
    talked(it, RECALLED)
    it.rest(WRITE_S)
    for number in range(RECALLED, RECALL_TIMES * RECALLED):
        it.turn(number)
    it.wait()
    assert len(it.states()) == 1
    it.turn(99)
    it.wait()
    assert it.states() == []


# ── settings ─────────────────────────────────────────────────────────────────────────────────
def settings(folder: Path, keep_turns: int, recall_turns: int = 12, url: str = "") -> Settings:
    remote = {"remote": {"url": url}} if url else {}
    return load(
        Path("/dev/null"),
        {"state_dir": str(folder), "thinking": remote,
         "memory": {"keep_turns": keep_turns, "recall_turns": recall_turns}},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("keep_turns", "recall_turns", "is_kept"),
    [(2000, 12, True), (36, 12, True), (35, 12, False), (0, 12, False), (2000, 0, False)],
)
def test_it_is_kept_where_the_memory_keeps_longer(
    tmp_path: Path, keep_turns: int, recall_turns: int, is_kept: bool
) -> None:
    assert kept(settings(tmp_path, keep_turns, recall_turns)) == is_kept


@pytest.mark.parametrize(
    ("keep_turns", "url", "stays"),
    [(2000, "", True), (0, "", False), (2000, "http://127.0.0.1:1", False)],
)
def test_where_it_is_not_kept_any_more_a_start_erases_it(
    tmp_path: Path, keep_turns: int, url: str, stays: bool
) -> None:
    state = tmp_path / "memory" / "memory.db.state-1"
    state.parent.mkdir()
    state.write_bytes(b"words")
    choose(settings(tmp_path, keep_turns, url=url), row("thinker"))
    deadline = time.monotonic() + (0.2 if stays else 10)
    while state.exists() and time.monotonic() < deadline:
        time.sleep(0.001)
    assert state.exists() == stays


def test_without_a_memory_a_session_recalls_what_it_is_told_to(tiny_model: LocalModel) -> None:
    session = ModelSession(
        LocalGemma(tiny_model, thinking(), 1), lambda message: None, recall_turns=2
    )
    session.load_turns([(f"{number}", "", "yes") for number in range(5)])
    assert [turn.text for turn in session.history.turns] == ["3", "4"]
    session.model.close()


# ── the thread ───────────────────────────────────────────────────────────────────────────────
def test_a_thread_prepares_the_next_start_by_itself_and_writes_it_when_it_ends(
    tiny_model: LocalModel, tmp_path: Path
) -> None:
    file = tmp_path / "memory" / "memory.db"
    Memory(file, KEEP).close()
    turns = [(SAID, "", "the moon"), (SAID, "", "a big stone")]

    def run(done: Callable[[LocalGemma], bool]) -> LocalGemma:
        model = LocalGemma(
            tiny_model, thinking(persona=PERSONA), 1, memory=file, recall_turns=RECALLED,
            openings=PromptStateCache(tmp_path / "openings"),
        )  # fmt: skip
        sent: list[Message] = []
        answered = 0
        make_session = partial(
            ModelSession, recall_turns=RECALLED, snapshot_schedule=SnapshotSchedule(0.0, 1e9)
        )
        thread = ModelThread(lambda: model, sent.append, idle_s=0.01, make_session=make_session)
        thread.writes = True
        thread.submit(lambda session: session.load_turns(turns))
        thread.start()
        end_s = time.monotonic() + 30
        while not (any(isinstance(each, ThinkerReady) for each in sent) and done(model)):
            assert thread.problem is None
            assert time.monotonic() < end_s
            if sum(isinstance(each, RecallWanted) for each in sent) > answered:
                answered += 1
                thread.submit(lambda session: session.load_turns(turns))
            time.sleep(0.001)
        thread.stop()
        assert thread.problem is None
        return model

    tokenized: list[HistoryTurn] = recalled(turns)
    run(lambda model: len(model._spare.held) == len(model._recalled(tokenized)))
    (path,) = file.parent.glob("*.state-*")
    assert path.stat().st_size
    assert run(lambda model: True)._gemma.read == 0
