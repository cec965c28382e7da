"""What is never computed twice: the opening after a restart, and the prompt after pruning."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from appliance.models.local_model import LocalModel
from appliance.think.abandoned import AnswerAbandoned
from appliance.think.history import History
from appliance.think.incremental_prefill import IncrementalPrefill
from appliance.think.interface import AnswerMetrics
from appliance.think.local import LocalGemma
from appliance.think.prompt_state_cache import PromptStateCache
from tests.think import tiny
from tests.think.local_talk import NOISE, answered, clip, said, settle, thinking
from tests.think.opened import gemma_of, open_local

PERSONA = "tell me about the moon " * 60  # beyond the window of 64 tokens

Make = Callable[..., LocalGemma]


@pytest.fixture
def make(tiny_model: LocalModel, tmp_path: Path) -> Iterator[Make]:
    made: list[LocalGemma] = []

    def local(
        folder: Path | None = tmp_path, text: Path | None = None, **changes: Any
    ) -> LocalGemma:
        for before in made:
            assert before._openings is None or before._openings.wait_written(10)
        files = replace(tiny_model, text=text or tiny_model.text)
        openings = PromptStateCache(folder) if folder is not None else None
        settings = thinking(**{"persona": PERSONA, **changes})
        made.append(open_local(files, settings, 1, openings=openings))
        return made[-1]

    yield local
    for model in made:
        model.close()


def weights(model: LocalGemma, text: str = "hello") -> np.ndarray[Any, Any]:
    """Of the first token of the answer to that."""
    history = History()
    history.add_turn(1, text=text)
    next(iter(model.answer(history, AnswerMetrics())))
    return gemma_of(model).logits()


def test_after_a_restart_the_opening_is_there_and_the_answer_is_the_same(make: Make) -> None:
    first = make()
    pieces = settle(first, History())
    assert pieces > 1  # a question could have come between them
    read = gemma_of(first).read
    second = make()
    assert settle(second, History()) == 1
    assert (gemma_of(second).read, gemma_of(second).position) == (0, read)
    fresh = make(folder=None)
    assert np.abs(weights(second) - weights(fresh)).max() < NOISE


def test_a_question_that_comes_first_keeps_the_opening_too(make: Make) -> None:
    first = make()
    fresh = weights(first)
    second = make()
    effort, history = AnswerMetrics(), History()
    history.add_turn(1, text="hello")
    next(iter(second.answer(history, effort)))
    assert effort.read < 40
    assert np.abs(gemma_of(second).logits() - fresh).max() < NOISE


def test_a_long_talk_from_a_kept_opening_goes_back_exactly(make: Make) -> None:
    settle(make(), History())
    kept, fresh = make(), make(folder=None)
    for model in (kept, fresh):
        history = History()
        for number in range(4):
            history.add_turn(number, [clip(1.5, number)])
            answered(model, history)
            settle(model, history)
        history.forget()
        settle(model, history)
    assert gemma_of(kept).position == gemma_of(fresh).position
    assert np.abs(weights(kept) - weights(fresh)).max() < NOISE


def test_another_persona_context_or_model_computes_its_own(make: Make, tmp_path: Path) -> None:
    settle(make(), History())
    other = tmp_path.with_name("other.gguf")
    tiny.write_text(other)
    for changes in ({"persona": PERSONA + "!"}, {"context_tokens": 2048}, {"text": other}):
        model = make(**changes)
        settle(model, History())
        assert gemma_of(model).read > 100


def test_a_file_that_was_changed_is_not_used_and_written_anew(make: Make, tmp_path: Path) -> None:
    settle(make(), History())
    fresh = weights(make(folder=None))
    (path,) = make()._openings._folder.glob("*.state")  # type: ignore[union-attr]
    whole = path.read_bytes()
    path.write_bytes(whole[:-500] + bytes(500))
    model = make()
    settle(model, History())
    assert gemma_of(model).read > 100
    assert np.abs(weights(model) - fresh).max() < NOISE
    assert model._openings is not None
    assert model._openings.wait_written(10)
    assert len(path.read_bytes()) == len(whole)
    assert settle(make(), History()) == 1


@pytest.mark.parametrize("first", ["the opening is read", "a question comes"])
def test_no_word_of_the_owner_is_in_what_is_kept(make: Make, tmp_path: Path, first: str) -> None:
    silent, spoken = tmp_path / "silent", tmp_path / "spoken"
    settle(make(folder=silent), History())
    model, history = make(folder=spoken), History()
    if first == "the opening is read":
        settle(model, history)
    history.add_turn(1, [clip(3)], "my secret is the moon")
    answered(model, history)
    settle(model, history)
    make()  # which waits until both are written
    (without,), (with_words,) = silent.iterdir(), spoken.iterdir()
    if first == "the opening is read":
        assert without.read_bytes() == with_words.read_bytes()
    else:  # read at once and not in pieces: the order of float sums differs
        assert without.stat().st_size == with_words.stat().st_size


# ── pruning ──────────────────────────────────────────────────────────────────────────────────
def a_long_talk(model: LocalGemma, turns: int, history: History) -> list[int]:
    """So many questions with pauses between them; how many tokens each was answered after."""
    read = []
    for number in range(turns):
        history.add_turn(number, [clip(1.5, number)])
        effort = AnswerMetrics()
        assert history.last is not None
        history.last.answer += said(model.answer(history, effort))
        read.append(effort.read)
        settle(model, history)
    return read


@pytest.mark.long
def test_no_question_ever_waits_for_what_pruning_reads(make: Make) -> None:
    model, history = make(folder=None, history_tokens=600), History()
    read = a_long_talk(model, 40, history)
    assert len(history.turns) < 20  # it was pruned, more than once
    assert max(read[1:]) < 70  # the question and the marks around it


@pytest.mark.long
def test_after_pruning_the_model_holds_what_a_fresh_reading_would(make: Make) -> None:
    model, fresh, history = make(folder=None, history_tokens=600), make(folder=None), History()
    a_long_talk(model, 25, history)
    history.add_turn(99, text="tell me about the moon")
    first, second = model.answer(history, AnswerMetrics()), fresh.answer(history, AnswerMetrics())
    next(first), next(second)
    assert np.abs(gemma_of(model).logits() - gemma_of(fresh).logits()).max() < NOISE
    assert said(first) == said(second)


def test_a_question_ends_what_prepares_pruning_and_it_is_made_up_for_later(make: Make) -> None:
    model, fresh, history = make(folder=None, history_tokens=600), make(folder=None), History()
    while model._pruning.shorter(history) is None:
        history.add_turn(len(history.turns), [clip(1.5, len(history.turns))]).set_answer("the moon")
    assert not model._spare.held.size  # nothing is prepared yet

    def asked_meanwhile() -> float:
        model.preempt_idle()
        return time.monotonic()

    model._spare = IncrementalPrefill(gemma_of(model), 1, clock=asked_meanwhile)
    with pytest.raises(AnswerAbandoned):
        settle(model, history)
    model._spare = IncrementalPrefill(gemma_of(model), 1)
    model.resume()
    tokenized = model._prompt(history, open_last=False)
    assert np.array_equal(model._reader.held, tokenized.ids)  # what a question needs is all there
    settle(model, history)
    assert model._spare.held.size
    a_long_talk(model, 8, history)
    history.add_turn(99, text="tell me about the moon")
    first, second = model.answer(history, AnswerMetrics()), fresh.answer(history, AnswerMetrics())
    next(first), next(second)
    assert np.abs(gemma_of(model).logits() - gemma_of(fresh).logits()).max() < NOISE


def test_where_nothing_is_prepared_nothing_is_ended(make: Make) -> None:
    model = make(folder=None)
    model.preempt_idle()
    assert not gemma_of(model).interrupted


def test_memory_of_forgotten_turns_is_not_prepared(make: Make) -> None:
    model, history = make(folder=None, history_tokens=600), History()
    a_long_talk(model, 8, history)
    history.forget()
    assert settle(model, history) == 1
    assert gemma_of(model).position == len(model._opening)
    assert a_long_talk(model, 1, history)[0] < 70


def test_an_interruption_while_a_piece_is_read_leaves_a_clean_model(make: Make) -> None:
    model, fresh, history = make(folder=None), make(folder=None), History()
    model.interrupt()
    with pytest.raises(AnswerAbandoned):
        settle(model, history)
    model.resume()
    settle(model, history)
    assert np.abs(weights(model) - weights(fresh)).max() < NOISE
