"""The opening is not computed again after a restart, nor the prompt after pruning."""

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
from tests.think.local_talk import NOISE, clip, draw_answer, settle, text_of, thinking
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
    """The logits of the first token of the answer to `text`."""
    history = History()
    history.add_turn(1, text=text)
    next(iter(model.answer(history, AnswerMetrics())))
    return gemma_of(model).logits()


def test_after_a_restart_the_opening_is_loaded_and_the_logits_are_the_same(make: Make) -> None:
    first = make()
    pieces = settle(first, History())
    assert pieces > 1  # a question could come between them
    read = gemma_of(first).read
    second = make()
    assert settle(second, History()) == 1
    assert (gemma_of(second).read, gemma_of(second).position) == (0, read)
    fresh = make(folder=None)
    assert np.abs(weights(second) - weights(fresh)).max() < NOISE


def test_a_first_question_also_uses_the_saved_opening(make: Make) -> None:
    first = make()
    fresh = weights(first)
    second = make()
    effort, history = AnswerMetrics(), History()
    history.add_turn(1, text="hello")
    next(iter(second.answer(history, effort)))
    assert effort.read < 40
    assert np.abs(gemma_of(second).logits() - fresh).max() < NOISE


def test_a_model_with_a_loaded_opening_rolls_back_exactly(make: Make) -> None:
    settle(make(), History())
    restored, fresh = make(), make(folder=None)
    for model in (restored, fresh):
        history = History()
        for number in range(4):
            history.add_turn(number, [clip(1.5, number)])
            draw_answer(model, history)
            settle(model, history)
        history.forget()
        settle(model, history)
    assert gemma_of(restored).position == gemma_of(fresh).position
    assert np.abs(weights(restored) - weights(fresh)).max() < NOISE


def test_another_persona_context_or_model_computes_its_own_opening(
    make: Make, tmp_path: Path
) -> None:
    settle(make(), History())
    other = tmp_path.with_name("other.gguf")
    tiny.write_text(other)
    for changes in ({"persona": PERSONA + "!"}, {"context_tokens": 2048}, {"text": other}):
        model = make(**changes)
        settle(model, History())
        assert gemma_of(model).read > 100


def test_a_damaged_file_is_not_used_and_is_written_again(make: Make, tmp_path: Path) -> None:
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
def test_the_saved_opening_contains_no_word_of_the_owner(
    make: Make, tmp_path: Path, first: str
) -> None:
    silent, spoken = tmp_path / "silent", tmp_path / "spoken"
    settle(make(folder=silent), History())
    model, history = make(folder=spoken), History()
    if first == "the opening is read":
        settle(model, history)
    history.add_turn(1, [clip(3)], "my secret is the moon")
    draw_answer(model, history)
    settle(model, history)
    make()  # waits until both are written
    (without,), (with_words,) = silent.iterdir(), spoken.iterdir()
    if first == "the opening is read":
        assert without.read_bytes() == with_words.read_bytes()
    else:  # read at once, not in pieces: the order of float sums differs
        assert without.stat().st_size == with_words.stat().st_size


# ── pruning ──────────────────────────────────────────────────────────────────────────────────────
def long_talk(model: LocalGemma, turns: int, history: History) -> list[int]:
    """Ask so many questions with pauses between them. Returns the tokens read for each answer."""
    read = []
    for number in range(turns):
        history.add_turn(number, [clip(1.5, number)])
        effort = AnswerMetrics()
        assert history.last is not None
        history.last.answer += text_of(model.answer(history, effort))
        read.append(effort.read)
        settle(model, history)
    return read


@pytest.mark.long
def test_no_question_waits_for_the_prefill_after_pruning(make: Make) -> None:
    model, history = make(folder=None, history_tokens=600), History()
    read = long_talk(model, 40, history)
    assert len(history.turns) < 20  # it was pruned, more than once
    assert max(read[1:]) < 70  # the question and the marks around it


@pytest.mark.long
def test_after_pruning_the_logits_equal_those_of_a_fresh_model(make: Make) -> None:
    model, fresh, history = make(folder=None, history_tokens=600), make(folder=None), History()
    long_talk(model, 25, history)
    history.add_turn(99, text="tell me about the moon")
    first, second = model.answer(history, AnswerMetrics()), fresh.answer(history, AnswerMetrics())
    next(first), next(second)
    assert np.abs(gemma_of(model).logits() - gemma_of(fresh).logits()).max() < NOISE
    assert text_of(first) == text_of(second)


def test_a_question_interrupts_the_preparation_of_pruning_which_resumes_later(make: Make) -> None:
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
    assert np.array_equal(model._reader.held, tokenized.ids)  # all that a question needs is held
    settle(model, history)
    assert model._spare.held.size
    long_talk(model, 8, history)
    history.add_turn(99, text="tell me about the moon")
    first, second = model.answer(history, AnswerMetrics()), fresh.answer(history, AnswerMetrics())
    next(first), next(second)
    assert np.abs(gemma_of(model).logits() - gemma_of(fresh).logits()).max() < NOISE


def test_preempt_idle_without_idle_work_does_not_interrupt(make: Make) -> None:
    model = make(folder=None)
    model.preempt_idle()
    assert not gemma_of(model).interrupted


def test_forgotten_turns_are_not_prepared(make: Make) -> None:
    model, history = make(folder=None, history_tokens=600), History()
    long_talk(model, 8, history)
    history.forget()
    assert settle(model, history) == 1
    assert gemma_of(model).position == len(model._opening)
    assert long_talk(model, 1, history)[0] < 70


def test_an_interruption_of_a_piece_leaves_a_usable_model(make: Make) -> None:
    model, fresh, history = make(folder=None), make(folder=None), History()
    model.interrupt()
    with pytest.raises(AnswerAbandoned):
        settle(model, history)
    model.resume()
    settle(model, history)
    assert np.abs(weights(model) - weights(fresh)).max() < NOISE
