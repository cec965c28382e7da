"""Settings of hearing: echo, onsets, turns, the verdict, words, and listening modes."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from appliance.errors import ShownAs
from appliance.settings.section import Milliseconds, Phrases, Ratio, Section, is_phrase
from appliance.settings.value_errors import ValueRefused


class EchoSettings(Section, frozen=True):
    """Echo cancellation."""

    canceller: Literal["auto", "kalman", "hardware", "none"]
    tail_ms: Annotated[int, msgspec.Meta(ge=20, le=500)]


class OnsetSettings(Section, frozen=True):
    """The gate that pauses playback at once, and the confirmation that must follow."""

    above_noise_db: Annotated[float, msgspec.Meta(ge=3, le=40)]
    above_echo_db: Annotated[float, msgspec.Meta(ge=0, le=40)]
    blocks: Annotated[int, msgspec.Meta(ge=1, le=10)]
    confirm_ms: Milliseconds


class TurnSettings(Section, frozen=True):
    """When the owner's speech counts as an utterance, and when it is over."""

    probability: Ratio
    release_probability: Ratio
    start_ms: Milliseconds
    end_ms: Milliseconds
    judge: Literal["auto", "none"]
    ask_ms: Annotated[tuple[Milliseconds, ...], msgspec.Meta(min_length=1)]
    sure: Ratio
    sure_ms: Milliseconds
    likely: Ratio
    unsure_ms: Milliseconds
    unlikely_ms: Milliseconds
    preroll_ms: Milliseconds
    piece_s: Annotated[float, msgspec.Meta(ge=5, le=30)]

    def __post_init__(self) -> None:
        if list(self.ask_ms) != sorted(set(self.ask_ms)):
            raise ValueError("the moments of `ask_ms` do not rise")
        if not self.likely <= self.sure:
            raise ValueError("`likely` is more than `sure`")
        if not self.sure_ms <= self.unsure_ms <= self.unlikely_ms:
            raise ValueError("`sure_ms`, `unsure_ms` and `unlikely_ms` do not rise")

    @property
    def longest_ms(self) -> int:
        """The longest silence that can be needed to end a turn, by any of the rules."""
        return self.end_ms if self.judge == "none" else max(self.end_ms, self.unlikely_ms)


class VerdictSettings(Section, frozen=True):
    """Backchannel, interruption or noise: when to decide, and how sure to be."""

    first_ms: Milliseconds
    every_ms: Annotated[int, msgspec.Meta(ge=10, le=500)]
    deadline_ms: Milliseconds
    interruption: Ratio
    backchannel: Ratio


class WordsSettings(Section, frozen=True):
    """Words that decide the verdict without the classifier. Lower case, each in one list."""

    recogniser: Literal["auto", "sherpa", "pocketsphinx", "none"]
    yields: Phrases = msgspec.field(name="yield")
    carry_on: Phrases
    stop: Phrases
    repeat: Phrases

    def __post_init__(self) -> None:
        lists = {
            "yield": self.yields,
            "carry_on": self.carry_on,
            "stop": self.stop,
            "repeat": self.repeat,
        }
        for name, phrases in lists.items():
            if odd := [p for p in phrases if not is_phrase(p)]:
                raise ValueError(f"`{odd[0]}` in the list `{name}` has to be words in lower case")
            if twice := [p for i, p in enumerate(phrases) if p in phrases[:i]]:
                raise ValueError(f"`{twice[0]}` is twice in the list `{name}`")
        calls = {*self.yields, *self.stop, *self.repeat}
        if both := sorted(calls.intersection(self.carry_on)):
            raise ValueError(f"`{both[0]}` cannot both interrupt and be in the list `carry_on`")
        if both := sorted({*self.stop}.intersection(self.repeat)):
            raise ValueError(f"`{both[0]}` cannot be in both lists `stop` and `repeat`")


class WakeSettings(Section, frozen=True):
    """Mode wake_word."""

    phrase: str
    sensitivity: Ratio
    open_s: Annotated[float, msgspec.Meta(ge=0, le=120)]
    barge_in: bool

    def __post_init__(self) -> None:
        if not is_phrase(self.phrase):
            shown = ShownAs.of("page-wrong-phrase", phrase=self.phrase[:60])
            raise ValueRefused(f"the phrase `{self.phrase}` has to be words in lower case", shown)


class PushToTalkSettings(Section, frozen=True):
    """Mode push_to_talk."""

    press: Literal["hold", "toggle"]
    voice_interrupts: bool


class HearingSettings(Section, frozen=True):
    echo: EchoSettings
    onset: OnsetSettings
    turn: TurnSettings
    verdict: VerdictSettings
    words: WordsSettings
    wake: WakeSettings
    push_to_talk: PushToTalkSettings
