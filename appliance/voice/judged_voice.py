"""Wraps a voice so that a recogniser checks whether its sound matches the text.

A sentence that need not sound yet is held until the verdict, and is not played if that is bad. The
first sentence of an answer must sound at once, so it is judged while it plays. In both cases a bad
verdict raises UnsayableText, and another voice says the rest.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import numpy as np

from appliance.errors import UnsayableText
from appliance.messages.speech import SentenceTokens
from appliance.pcm import EMPTY, RATE_HZ, Samples
from appliance.voice.interface import Speech, Voice
from appliance.voice.judged_part import part_to_judge
from appliance.voice.speech_judge import SpeechJudge
from appliance.voice.spoken_words import SpokenWord, heard_after

MOST_WORDS = 200  # limit of a sentence's words among which the end of the judged part is searched
MARGIN_S = 0.1  # so long before the present sound ends, held samples are released, judged or not
SYNTHESIS_SHARE = 0.5  # of the remaining play time, for the next sentence


class JudgedVoice:
    """`voice`, with a judge of its sound. `close` closes both."""

    def __init__(
        self, voice: Voice, judge: SpeechJudge, now_s: Callable[[], float] = time.monotonic
    ) -> None:
        self.voice = voice
        self._judge, self._now_s = judge, now_s

    @property
    def name(self) -> str:
        return self.voice.name

    @property
    def ready(self) -> bool:
        return self.voice.ready

    @property
    def problem(self) -> str:
        return self.voice.problem

    def synthesise(self, text: str, tokens: SentenceTokens | None = None) -> JudgedSpeech:
        speech = self.voice.synthesise(text, tokens)
        return JudgedSpeech(speech, text, self.name, self._judge, self._now_s)

    def poll(self) -> None:
        self.voice.poll()
        self._judge.poll()

    def close(self) -> None:
        self.voice.close()
        self._judge.close()


class JudgedSpeech:
    """`speech`, which says `text`, with its verdict. A sentence that cannot be judged is played."""

    def __init__(
        self, speech: Speech, text: str, name: str, judge: SpeechJudge, now_s: Callable[[], float]
    ) -> None:
        self._speech, self._text, self._name = speech, text, name
        self._judge, self._now_s = judge, now_s
        self._all_samples: list[Samples] = []  # all samples so far
        self._held: list[Samples] = []  # those of them that `read` has not returned yet
        self._hold_until_s = self._play_until_s = self._verdict_until_s = float("-inf")
        self._ended = self._started = self._cancelled = False
        self._awaits_verdict = self._failed = False  # waits for the verdict; the verdict was bad

    def hold_until(self, at_s: float) -> None:
        """Allow `read` to hold samples until shortly before `at_s`, when the sentence must sound,
        judged or not."""
        self._hold_until_s = at_s - MARGIN_S

    def fileno(self) -> int:
        return self._speech.fileno()

    @property
    def words(self) -> Sequence[SpokenWord]:
        return self._speech.words

    def cancel(self) -> None:
        self._cancelled = True
        self._speech.cancel()

    def read(self) -> Samples | None:
        """The next samples, see Speech. Raises UnsayableText, for the rest of the answer too, if
        the verdict is that the sound does not match the text."""
        now_s = self._now_s()
        while not self._ended and self._read_more(now_s):
            if now_s >= self._hold_until_s:
                break
        if self._awaits_verdict:
            self._judge.poll()
        if self._failed:
            raise UnsayableText(
                f"What the voice {self._name} said was not understood by the recogniser.",
                said=len(self._text) if self._started else 0,
                rest_of_answer=True,
            )
        if self._held and (now_s >= self._hold_until_s or self._judged):
            made, self._held = self._held, []
            self._started = True
            return np.concatenate(made)
        if (
            self._held
            or not self._ended
            or (self._awaits_verdict and now_s < self._verdict_until_s)
        ):
            return EMPTY
        return None

    @property
    def _judged(self) -> bool:
        return self._ended and not self._awaits_verdict

    def _read_more(self, now_s: float) -> bool:
        """Read from the voice. Returns whether there were samples, or the end."""
        samples = self._speech.read()
        if samples is None:
            self._ended = True
            self._verdict_until_s = now_s + (self._play_until_s - now_s) * (1 - SYNTHESIS_SHARE)
            self._begin_judging()
        elif len(samples):
            if not self._all_samples:
                self._play_until_s = max(now_s, self._hold_until_s) - MARGIN_S
            self._play_until_s += len(samples) / RATE_HZ
            self._all_samples.append(samples)
            self._held.append(samples)
        return samples is None or bool(len(samples))

    def _begin_judging(self) -> None:
        if not (self._judge.ready and self._all_samples):
            return
        ends = heard_after(self._speech.words, MOST_WORDS)
        part = part_to_judge(self._text, np.concatenate(self._all_samples), list(ends))
        if part is not None:
            self._awaits_verdict = True
            self._judge.judge(*part, self._on_verdict)

    def _on_verdict(self, good: bool) -> None:  # SpeechJudge calls it with one argument
        self._awaits_verdict = False
        self._failed = not good and not self._cancelled
