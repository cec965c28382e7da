"""Transcription by the model: bounded, interruptible, and separate from the conversation's context.

The pocket model was not trained for it: its transcript is always its sentence for speech that it
does not understand. This tests the data flow, not the quality of transcripts.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from appliance.messages.thinking import AnswerHeard, Transcribed
from appliance.models.local_model import LocalModel
from appliance.models.store import ModelStore
from appliance.settings import load_defaults
from appliance.think.abandoned import AnswerAbandoned
from appliance.think.history import History, SpeechClip
from appliance.think.interface import AnswerMetrics
from appliance.think.local import LocalGemma
from appliance.think.prompt import (
    LEAST_TOKENS,
    TOKENS_A_SECOND,
    most_tokens,
    transcription_request,
)
from tests.think.local_talk import clip, settle, thinking
from tests.think.rig import OWN, Rig

POCKET = Path(__file__).parents[2] / "appliance/models/pocket"
NOT_UNDERSTOOD = "Sorry, I did not understand that. Please say it in another way."


@pytest.fixture
def pocket() -> Iterator[Callable[..., LocalGemma]]:
    """Loads the pocket model, declared as able to transcribe."""
    made: list[LocalGemma] = []
    files = LocalModel("pocket", POCKET / "pocket-text.gguf", POCKET / "pocket-audio.gguf")

    def load(**own: Any) -> LocalGemma:
        made.append(LocalGemma(replace(files, **own), thinking(temperature=0.0), 1))
        return made[-1]

    yield load
    for model in made:
        model.close()


def test_a_clip_is_transcribed_up_to_the_models_end_token(
    pocket: Callable[..., LocalGemma],
) -> None:
    model = pocket()
    assert model.transcribe([clip(2)]) == NOT_UNDERSTOOD
    assert model.transcribe([clip(2), clip(1, seed=1)]) == f"{NOT_UNDERSTOOD} {NOT_UNDERSTOOD}"


def test_a_model_that_cannot_transcribe_is_not_asked(pocket: Callable[..., LocalGemma]) -> None:
    model = pocket(transcribes=False)
    before = model.progress
    assert model.transcribe([clip(2)]) == ""
    assert model.progress == before


def test_gemma_can_transcribe_and_the_pocket_model_cannot() -> None:
    models = ModelStore.of(load_defaults()).models
    can = {name: row.language.transcribes for name, row in models.items() if row.language}
    assert not can["pocket"]
    assert can["gemma-4-e2b"]


def test_an_endless_transcript_is_discarded_at_its_limit(
    tiny_model: LocalModel,
) -> None:
    """Random weights never end by themselves."""
    model, long = LocalGemma(tiny_model, thinking(), 1), clip(3)
    assert most_tokens(long) == LEAST_TOKENS + 3 * TOKENS_A_SECOND
    assert model.transcribe([clip(1)]) == ""  # so that one-time encoding does not count
    model.encode_ahead(long)
    before = model.progress
    assert model.transcribe([long]) == ""
    request = len(model._tokenize_prompt(transcription_request(long)))
    assert (
        model.progress - before == request + most_tokens(long) - 1
    )  # the last token is drawn, not read
    model.close()


def test_the_request_is_sound_and_then_words_without_the_conversation(
    tiny_model: LocalModel,
) -> None:
    parts = list(transcription_request(clip(1)))
    assert [type(part).__name__ for part in parts] == [
        "ControlText",
        "SpeechClip",
        "ControlText",
        "PlainText",
        "ControlText",
    ]


def test_a_transcription_keeps_the_context_of_the_conversation(tiny_model: LocalModel) -> None:
    model, history = LocalGemma(tiny_model, thinking(), 1), History()
    history.add_turn(1, [clip(2)])
    turn = history.turns[0]
    turn.answer = "".join(p for p in model.answer(history, AnswerMetrics()) if isinstance(p, str))
    turn.settled = True
    settle(model, history)
    model.transcribe(turn.clips)
    history.add_turn(2, text="hello")
    effort = AnswerMetrics()
    next(model.answer(history, effort))
    assert effort.read < 30  # the question and the marks around it
    model.close()


def interrupted_once(model: LocalGemma, speech: SpeechClip) -> tuple[str, bool]:
    """The transcript, and whether its third token was interrupted: on a busy machine the thread
    that interrupts may get the processor too late."""
    drawn = model.progress + len(model._tokenize_prompt(transcription_request(speech))) + 3
    done = threading.Event()

    def interrupt() -> None:
        while model.progress < drawn and not done.is_set():
            continue
        model.interrupt()

    interrupting = threading.Thread(target=interrupt, daemon=True)
    interrupting.start()
    interrupted = False
    try:
        text = model.transcribe([speech])
    except AnswerAbandoned:
        interrupted = True
        model.resume()
        text = model.transcribe([speech])
    done.set()
    interrupting.join()
    model.resume()
    return text, interrupted


@pytest.mark.long
def test_an_interrupted_transcription_is_continued_where_it_was(
    pocket: Callable[..., LocalGemma],
) -> None:
    speech, interrupted, attempts = clip(20), False, 0
    while not interrupted:
        assert (attempts := attempts + 1) <= 10, "it was never interrupted"
        model = pocket()
        model.encode_ahead(speech)
        began = model.progress
        text, interrupted = interrupted_once(model, speech)
        assert text == NOT_UNDERSTOOD
    fresh = pocket()
    fresh.encode_ahead(speech)
    before = fresh.progress
    assert fresh.transcribe([speech]) == text
    assert model.progress - began <= fresh.progress - before + 2  # at most a token was read twice


@pytest.mark.process
@pytest.mark.timeout(600)  # waits for a machine that is too busy
def test_the_thinker_sends_a_transcript_once_the_answer_was_heard(tmp_path: Path) -> None:
    files = POCKET / "pocket-text.gguf", POCKET / "pocket-audio.gguf"
    with Rig(
        tmp_path, files, model=OWN, threads=1, temperature=0, answer_tokens=40,
        instruction="",
    ) as rig:  # fmt: skip
        # Under strain, and for 30 s after it, the box transcribes nothing, by design.
        rig.limit_s, rig.busy_s = 60.0, 180.0
        rig.wait_ready()
        noise = np.random.default_rng(0).normal(0, 3000, 32_000).astype(np.int16)
        rig.say(7, noise)
        rig.think(1, 7)
        rig.end_of(1)
        assert not rig.told(Transcribed)
        rig.mail.send(AnswerHeard(1, rig.text_of(1) or "Yes.", complete=True))
        rig.until(lambda: rig.told(Transcribed, 1))  # needs 5 s without work
        assert rig.told(Transcribed) == [Transcribed(1, NOT_UNDERSTOOD)]
