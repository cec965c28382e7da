"""A restart loads the saved state of the conversation and reads only what came after it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from appliance.dialog.memory import Memory
from appliance.messages.registry import Message
from appliance.messages.thinking import RecallWanted, ThinkerReady
from appliance.models.local_model import LocalModel
from appliance.runtime import memory_files
from appliance.think.abandoned import AnswerAbandoned
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
from tests.think.local_talk import NOISE, clip, thinking
from tests.think.opened import gemma_of, open_local
from tests.think.recalling import KEEP, PERSONA, RECALLED, SAID, Begin, Box, never, talk


def weights(box: Box) -> np.ndarray:
    """The logits of the first token of the next answer."""
    history = History()
    history.turns = list(box.session.history.turns)
    history.add_turn(99, text="hello")
    next(iter(box.model.answer(history, AnswerMetrics())))
    return gemma_of(box.model).logits()


def test_a_restart_after_a_rest_reads_nothing_and_gives_the_same_logits(
    start_box: Begin, tiny_model: LocalModel, tmp_path: Path
) -> None:
    first = start_box()
    assert first.start() > 0
    talk(first, 4)
    first.rest(WRITE_S)
    (path,) = first.states()
    assert path.stat().st_mode & 0o777 == 0o600
    second = start_box()
    assert second.start() == 0
    assert len(second.session.history.turns) == RECALLED
    restored_weights = weights(second)
    (tmp_path / "fresh").mkdir()
    fresh = Box(tiny_model, tmp_path / "fresh")
    for turn in second.memory.recall(RECALLED):
        fresh.memory.remember(turn)
    assert fresh.start() == len(fresh.model._reader.held)
    assert np.abs(restored_weights - weights(fresh)).max() < NOISE
    fresh.close()


def test_only_turns_after_the_saved_state_are_read(start_box: Begin) -> None:
    first = start_box()
    first.start()
    talk(first, 4)
    first.rest(WRITE_S)
    talk(first, RECALLED, first=4)
    second = start_box()
    read = second.start()
    turns = second.session.history.turns
    assert len(turns) == 2 * RECALLED  # it begins where the saved state begins
    since = second.model._recalled(turns[RECALLED:])
    assert read == len(since) - len(second.model._opening)
    assert not second.model._pruned


def test_a_state_that_does_not_match_the_recalled_turns_is_erased(
    start_box: Begin,
) -> None:
    first = start_box()
    first.start()
    talk(first, 4)
    first.rest(WRITE_S)
    turns = first.memory.recall(-1)
    first.memory.rewrite(turns[2:])
    second = start_box()
    read = second.start()
    assert read == len(second.model._reader.held) - len(second.model._opening)
    second.wait()
    assert second.states() == []
    assert len(second.session.history.turns) == 2


def test_each_turn_is_prepared_once_while_the_first_recalled_turn_stays(
    start_box: Begin,
) -> None:
    box = start_box()
    box.start()
    talk(box, RECALLED)
    box.rest(PREPARE_S)
    read = []
    for number in range(RECALLED, 2 * RECALLED + 1):
        box.turn(number)
        before = gemma_of(box.model).read
        box.rest(PREPARE_S)
        read.append(gemma_of(box.model).read - before)
    a_turn = len(box.model._recalled(box.session.history.turns[-1:])) - len(box.model._opening)
    assert max(read[:-1]) < 1.5 * a_turn
    assert read[-1] > 2 * a_turn  # at twice the recalled number the last turns are read again


def test_the_prompt_of_the_same_turns_is_tokenized_once(tmp_path: Path) -> None:
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
    while not cache.may_request():
        assert snapshots.wait(10)
    for count in (2, 3, 4):
        cache.may_request()
        made.clear()
        cache.set_turns(turns[:count])
        assert made == sorted(set(made), reverse=True)
        assert made[-1] == count
    snapshots.drop()
    assert snapshots.wait(10)


def no_reader() -> IncrementalPrefill:
    raise AssertionError("nothing may be read here")


def test_a_state_is_written_once_per_rest_and_only_if_it_is_new(start_box: Begin) -> None:
    box = start_box()
    box.start()
    talk(box, 4)
    box.rest(PREPARE_S)
    assert box.states() == []
    box.rest(WRITE_S)
    (path,) = box.states()
    box.rest(10 * WRITE_S)
    assert box.states() == [path]
    again = start_box()
    again.start()
    again.rest(WRITE_S)
    assert again.states() == [path]


def test_an_orderly_stop_writes_the_prepared_state(start_box: Begin) -> None:
    first = start_box()
    first.start()
    talk(first, 4)
    first.rest(PREPARE_S)
    first.stop()
    assert start_box().start() == 0


def test_a_stop_in_the_middle_of_a_conversation_writes_nothing(start_box: Begin) -> None:
    first = start_box()
    first.start()
    talk(first, 4)
    first.stop()
    assert first.states() == []


def test_a_damaged_state_is_computed_and_saved_again(start_box: Begin) -> None:
    first = start_box()
    first.start()
    talk(first, 4)
    first.rest(WRITE_S)
    (path,) = first.states()
    whole = path.read_bytes()
    path.write_bytes(whole[:-500] + bytes(500))
    second = start_box()
    assert second.start() == len(second.model._reader.held) - len(second.model._opening)
    second.rest(WRITE_S)
    (again,) = second.states()
    assert len(again.read_bytes()) == len(whole)
    assert start_box().start() == 0


def test_a_question_right_after_the_recall_also_uses_the_state(start_box: Begin) -> None:
    first = start_box()
    first.start()
    talk(first, 4)
    first.rest(WRITE_S)
    second = start_box()
    second.recall()
    second.session.history.add_turn(9, text="hello")
    effort = AnswerMetrics()
    next(iter(second.model.answer(second.session.history, effort)))
    assert effort.read < 40  # the question and the marks around it


def test_a_question_interrupts_the_preparation_which_resumes_later(start_box: Begin) -> None:
    box = start_box()
    box.start()
    talk(box, 4)

    def asked_meanwhile() -> float:
        box.session.preempt_idle()
        return time.monotonic()

    box.rest(0.0)
    box.model._spare = IncrementalPrefill(gemma_of(box.model), 1, clock=asked_meanwhile)
    with pytest.raises(AnswerAbandoned):
        box.rest(PREPARE_S)
    box.model._spare = IncrementalPrefill(gemma_of(box.model), 1)
    box.rest(0.0)
    box.rest(WRITE_S)
    assert box.states()
    assert start_box().start() == 0


def test_nothing_is_prepared_while_the_model_is_wanted(start_box: Begin) -> None:
    box = start_box()
    box.start()
    talk(box, 4)
    box.now_s += PREPARE_S
    box.session.prepare_next_start(never)
    box.wait()
    box.session.prepare_next_start(never)
    box.recall()
    before = gemma_of(box.model).read
    box.session.prepare_next_start(lambda: True)
    assert gemma_of(box.model).read == before
    box.session.prepare_next_start(never)
    assert gemma_of(box.model).read > before


def test_nothing_is_saved_before_the_speech_is_transcribed(start_box: Begin) -> None:
    box = start_box()
    box.start()
    box.session.think(1, [clip(1)], "", 0.0)
    box.session.record_heard(1, "the moon", complete=True)
    box.rest(PREPARE_S)
    box.rest(PREPARE_S)
    assert not list(
        memory_files.snapshots(box.file).glob("*.state-*")
    )  # the recalled text will differ
    box.session.transcribe_idle(never)
    box.now_s += PREPARE_S
    box.session.prepare_next_start(never)
    box.wait()
    assert len(list(memory_files.snapshots(box.file).glob("*.state-*"))) == 1


def test_without_a_recall_cache_a_session_recalls_the_last_turns(tiny_model: LocalModel) -> None:
    session = ModelSession(
        open_local(tiny_model, thinking(), 1), lambda message: None, recall_turns=2
    )
    session.load_turns([(f"{number}", "", "yes") for number in range(5)])
    assert [turn.text for turn in session.history.turns] == ["3", "4"]
    session.model.close()


def test_a_thread_prepares_the_next_start_and_writes_it_when_it_stops(
    tiny_model: LocalModel, tmp_path: Path
) -> None:
    file = tmp_path / "memory" / "memory.db"
    Memory(file, KEEP).close()
    turns = [(SAID, "", "the moon"), (SAID, "", "a big stone")]

    def run(done: Callable[[LocalGemma], bool]) -> LocalGemma:
        model = open_local(
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
        while not (any(isinstance(message, ThinkerReady) for message in sent) and done(model)):
            assert thread.problem is None
            assert time.monotonic() < end_s
            if sum(isinstance(message, RecallWanted) for message in sent) > answered:
                answered += 1
                thread.submit(lambda session: session.load_turns(turns))
            time.sleep(0.001)
        thread.stop()
        assert thread.problem is None
        return model

    tokenized: list[HistoryTurn] = recalled(turns)
    run(lambda model: len(model._spare.held) == len(model._recalled(tokenized)))
    (path,) = memory_files.snapshots(file).glob("*.state-*")
    assert path.stat().st_size
    assert gemma_of(run(lambda model: True)).read == 0
