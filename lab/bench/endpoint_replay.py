"""Runs a turn through the listener's front end once, and replays end-of-turn rules on the result.

In: a turn's sound. Out: the length of the silence at each block; then, for any settings, the time
at which the listener's own `EndOfTurn` ends the turn. The network's answers are cached, so that it
runs once for each block, for any number of rules.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from appliance.hear.endpointing import Endpointer
from appliance.hear.network_judge import NetworkAnswer
from appliance.hear.onset.frontend import AudioFrontEnd
from appliance.hear.turn.end_of_turn import EndOfTurn
from appliance.hear.turn.log_mel import WINDOW_FRAMES
from appliance.hear.turn.turn_network import TurnNetwork
from appliance.pcm import BLOCK_FRAMES, RATE_HZ, Samples
from appliance.settings import HearingSettings, TurnSettings
from lab.bench.endpoint_turns import BEFORE_S, Turn

_NOTHING = np.zeros(BLOCK_FRAMES, np.int16)
BLOCK_MS = 1000 * BLOCK_FRAMES / RATE_HZ


@dataclass
class HeardTurn:
    """A turn after the front end. `silent`: frames of silence at the end of each block, -1 before
    speech is confirmed. `said`: the cached answers of the network by block."""

    turn: Turn
    clean: Samples
    silent: list[int]
    said: dict[int, NetworkAnswer[float]] = field(default_factory=dict)

    def sound(self, block: int) -> Samples:
        """The sound that the listener would give to the judge after `block`."""
        end = (block + 1) * BLOCK_FRAMES
        first = max(round((BEFORE_S - 0.3) * RATE_HZ), end - WINDOW_FRAMES)  # 0.3 s of pre-roll
        return self.clean[first:end]


def process_turn(turn: Turn, settings: HearingSettings) -> HeardTurn:
    """Run the turn through echo canceller, noise floor and VAD, with silent playback."""
    front, endpointer = AudioFrontEnd(settings), Endpointer(settings.turn)
    clean, silent = [], []
    for at in range(0, len(turn.samples) - BLOCK_FRAMES + 1, BLOCK_FRAMES):
        block = front.process(turn.samples[at : at + BLOCK_FRAMES], _NOTHING, endpointer.confirmed)
        clean.append(block.samples)
        now = at + BLOCK_FRAMES
        if block.probability is not None and now > BEFORE_S * RATE_HZ:
            endpointer.update(block.probability, now)
        silent.append(endpointer.silent_frames(now) if endpointer.confirmed else -1)
    return HeardTurn(turn, np.concatenate(clean), silent)


class ReplayedJudge:
    """A judge whose answers arrive `late_ms` after the question, as those of its thread do."""

    def __init__(self, heard: HeardTurn, network: TurnNetwork, late_ms: float) -> None:
        self._heard = heard
        self._network = network
        self._late_blocks = int(np.ceil(late_ms / BLOCK_MS))
        self._due: list[tuple[int, NetworkAnswer[float]]] = []
        self.block = 0

    def ask(self, number: int, samples: Samples) -> None:
        cached = self._heard.said.get(self.block)
        if cached is None:
            cached = NetworkAnswer(0, self._network.probability(samples), 0.0)
            self._heard.said[self.block] = cached
        answer = NetworkAnswer(number, cached.opinion, cached.took_ms)
        self._due.append((self.block + self._late_blocks, answer))

    def pop_answer(self) -> NetworkAnswer[float] | None:
        if self._due and self._due[0][0] <= self.block:
            return self._due.pop(0)[1]
        return None


def ended_ms(
    heard: HeardTurn, settings: TurnSettings, network: TurnNetwork | None, late_ms: float
) -> float:
    """The time at which the rule ends the turn: ms of sound since its start; inf if never."""
    judge = ReplayedJudge(heard, network, late_ms) if network is not None else None
    rule = EndOfTurn(settings, judge)
    for block, silent in enumerate(heard.silent):
        if silent < 0:
            continue
        if judge is not None:
            judge.block = block
        if rule.update(silent, lambda block=block: heard.sound(block)):  # type: ignore[misc]
            return (block + 1) * BLOCK_MS
    return float("inf")
