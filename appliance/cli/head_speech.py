"""Speaks a text with the voice `head` in one process: the head speaks the model's hidden states.

The box does the same while it generates an answer; there the states go through a ring to the
head's program.
"""

from __future__ import annotations

import re
import time
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

import numpy as np

from appliance.errors import UnsayableText
from appliance.models.store import resolve
from appliance.pcm import Samples, to_float
from appliance.runtime.ipc.token_states import TokenSlot
from appliance.settings import Settings
from appliance.think.factory import usable_threads
from appliance.think.recite import Recited, recite
from appliance.tools.table import available
from appliance.voice.head.speech_head import SpeechHead
from appliance.voice.head_runs import Head, HeadRuns
from appliance.voice.head_sentences import HeadOrder, HeadSentences, Word
from appliance.voice.head_weights import head_folder
from appliance.voice.postprocess import SpeechPostprocessor, gain_for
from appliance.voice.protocol import EngineSound
from appliance.voice.spoken_words import SpeechMarks, SpokenWord


def said_by_head(settings: Settings, text: str) -> tuple[Samples, list[SpokenWord]]:
    """The sound that the box would make of the text, and its words. Raises VoiceError or ModelError
    if this box has no head, UnsayableText if the sound fails the head's check."""
    head = SpeechHead(head_folder(settings))
    recited = recite(
        resolve(settings), settings.thinking, available(settings), text,
        settings.thinking.threads or usable_threads(()),
    )  # fmt: skip
    return spoken_states(head, head.rate_hz, head.dbfs, text, recited)


def spoken_states(
    head: Head, rate_hz: int, dbfs: float, text: str, recited: Recited
) -> tuple[Samples, list[SpokenWord]]:
    """Synthesise the states of `text` with a head whose level is `dbfs`. Returns the sound and its
    words. Raises UnsayableText."""
    runs = HeadRuns(head)
    for serial, states in enumerate(recited.states, 1):
        runs.add(TokenSlot(serial, 1, serial == 1, states))
    count = len(recited.pieces)
    runs.add(TokenSlot(count, 1, first=False, states=None))
    sentences = HeadSentences(runs, dbfs)
    sentences.say(HeadOrder(1, 1, count + 1, words_of(text, recited.pieces)), time.monotonic())
    shaper, marks, chunks = SpeechPostprocessor(rate_hz), SpeechMarks(rate_hz), list[Samples]()
    while sentences.busy:
        runs.step()
        for reply, samples in sentences.replies(time.monotonic()):
            if "failed" in reply:
                raise UnsayableText(f"The voice head cannot say this: {reply['why']}.")
            if samples is not None:
                chunks.append(shaper.process(to_float(samples), gain_for(dbfs)))
                words = reply["words"]
                assert isinstance(words, list)
                marks.add(EngineSound(1, len(samples), words=tuple(words)))
    chunks.append(shaper.process(np.empty(0, np.float32), last=True))
    sound = np.concatenate(chunks)
    inside = (
        word._replace(over=min(word.over, len(sound))) for word in marks.words(shaper.dropped)
    )
    return sound, list(inside)


def words_of(text: str, pieces: Sequence[bytes]) -> tuple[Word, ...]:
    """For each word: first character, last + 1, and the index of the token in which it begins."""
    ends = list(accumulate(map(len, pieces)))
    spans = []
    for word in re.finditer(r"\S+", text):
        before = len(text[: word.start()].encode())
        spans.append((*word.span(), min(bisect_right(ends, before), len(ends) - 1)))
    return tuple(spans)
