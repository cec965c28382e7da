"""Tests the model server for `interlude check` with a question of one second of sound.

In: the owner's settings. Out: a finding: the server takes sound and answers, it thinks first, or
the error that it returns.
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

ANSWER_TOKENS = 16  # one word is enough, and a model that thinks starts within so many tokens


def try_server(settings: Settings) -> Finding:
    """Send a question and wait for the first word, with the timeout of a real question."""
    thinking = msgspec.structs.replace(settings.thinking, answer_tokens=ANSWER_TOKENS)
    server = settings.thinking.remote.server
    started_s = time.monotonic()
    try:
        model = RemoteModel(thinking, available(settings))
        try:
            answered = _first_word(model)
        finally:
            model.close()
    except InterludeError as error:
        return problem("model server", error.problem, error.remedy)
    took_s = time.monotonic() - started_s
    if model.thinks:
        text = f"The model server {server} thinks before it answers, though it was told not to."
        return warning("model server", text, SWITCH_OFF)
    how = "its first word came" if answered else "it had nothing to say to that"
    return ok(
        "model server", f"{server} takes sound and does not think: {how} after {took_s:.1f} s."
    )


def _first_word(model: RemoteModel) -> bool:
    """Whether the server's answer has any text or tool call."""
    noise = np.random.default_rng(0).normal(0, 30, RATE_HZ)  # a quiet room, -60 dBFS
    history = History()
    history.add_turn(1, [SpeechClip(0, noise.astype(np.int16))])
    pieces = model.answer(history, AnswerMetrics())
    try:
        return any(not isinstance(piece, str) or piece.strip() for piece in pieces)
    finally:
        pieces.close()
