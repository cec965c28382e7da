"""A model server tried out for `interlude check`: a second of sound is sent, as a question is.

In: the owner's settings. Out: a finding: it takes sound and answers, it thinks, or what it says in
place of an answer.
"""

from __future__ import annotations

import time

import msgspec
import numpy as np

from appliance.errors import InterludeError
from appliance.pcm import RATE_HZ
from appliance.runtime.diagnostics import Finding, ok, problem, warning
from appliance.settings import Settings
from appliance.think.history import History, SpeechClip
from appliance.think.interface import AnswerMetrics
from appliance.think.remote import RemoteModel
from appliance.think.server_errors import SWITCH_OFF
from appliance.tools.table import available

ANSWER_TOKENS = 16  # a word is enough, and a model that thinks has begun to by then


def try_server(settings: Settings) -> Finding:
    """Ask it, and wait for its first word: at most as long as a question would wait."""
    thinking = msgspec.structs.replace(settings.thinking, answer_tokens=ANSWER_TOKENS)
    server = settings.thinking.remote.server
    began_s = time.monotonic()
    try:
        model = RemoteModel(thinking, available(settings))
        try:
            answered = _first_word(model)
        finally:
            model.close()
    except InterludeError as error:
        return problem("model server", error.problem, error.remedy)
    took_s = time.monotonic() - began_s
    if model.thinks:
        said = f"The model server {server} thinks before it answers, though it was told not to."
        return warning("model server", said, SWITCH_OFF)
    how = "its first word came" if answered else "it had nothing to say to that"
    return ok(
        "model server", f"{server} takes sound and does not think: {how} after {took_s:.1f} s."
    )


def _first_word(model: RemoteModel) -> bool:
    """Whether there was any."""
    noise = np.random.default_rng(0).normal(0, 30, RATE_HZ)  # a quiet room, -60 dBFS
    history = History()
    history.add_turn(1, [SpeechClip(0, noise.astype(np.int16))])
    pieces = model.answer(history, AnswerMetrics())
    try:
        return any(not isinstance(piece, str) or piece.strip() for piece in pieces)
    finally:
        pieces.close()
