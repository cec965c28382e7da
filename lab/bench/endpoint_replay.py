"""One turn through hearing's own front end, and the end that each rule would have found in it.

In: a turn's sound. Out: how long the silence had lasted at each block, once; then for any settings
the block at which `EndOfTurn`, the listener's own object, says that the turn is over. What the
network says of a sound is asked once, whatever the number of rules.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from appliance.hear.endpointing import Endpointer
from appliance.hear.onset.frontend import AudioFrontEnd
from appliance.hear.turn.end_of_turn import EndOfTurn
from appliance.hear.turn.log_mel import WINDOW_FRAMES
from appliance.hear.turn.turn_judge import TurnAnswer
from appliance.hear.turn.turn_network import TurnNetwork
from appliance.pcm import BLOCK_FRAMES, RATE_HZ, Samples
from appliance.settings import HearingSettings, TurnSettings
from lab.bench.endpoint_turns import BEFORE_S, Turn

_NOTHING = np.zeros(BLOCK_FRAMES, np.int16)
BLOCK_MS = 1000 * BLOCK_FRAMES / RATE_HZ


@dataclass
class HeardTurn:
    """`silent`: frames of silence at the end of each block since the speech was noticed, -1 before.
    `said`: the network's answers so far, by block."""

    turn: Turn
    clean: Samples
    silent: list[int]
    said: dict[int, TurnAnswer] = field(default_factory=dict)

    def sound(self, block: int) -> Samples:
        """What the listener would hand to the judge after `block`."""
        end = (block + 1) * BLOCK_FRAMES
        first = max(round((BEFORE_S - 0.3) * RATE_HZ), end - WINDOW_FRAMES)  # 0.3 s of pre-roll
        return self.clean[first:end]


def hear(turn: Turn, settings: HearingSettings) -> HeardTurn:
    """The turn through echo canceller, noise floor and speech detector; nothing is played."""
    front, endpointer = AudioFrontEnd(settings), Endpointer(settings.turn)
    clean, silent = [], []
    for at in range(0, len(turn.samples) - BLOCK_FRAMES + 1, BLOCK_FRAMES):
        heard = front.process(turn.samples[at : at + BLOCK_FRAMES], _NOTHING, endpointer.confirmed)
        clean.append(heard.samples)
        now = at + BLOCK_FRAMES
        if heard.probability is not None and now > BEFORE_S * RATE_HZ:
            endpointer.update(heard.probability, now)
        silent.append(endpointer.silent_frames(now) if endpointer.confirmed else -1)
    return HeardTurn(turn, np.concatenate(clean), silent)


class ReplayedJudge:
    """A judge that answers `late_ms` of sound after the question, as a thread of its own does."""

    def __init__(self, heard: HeardTurn, network: TurnNetwork, late_ms: float) -> None:
        self._heard = heard
        self._network = network
        self._late_blocks = int(np.ceil(late_ms / BLOCK_MS))
        self._due: list[tuple[int, TurnAnswer]] = []
        self.block = 0

    def ask(self, number: int, samples: Samples) -> None:
        known = self._heard.said.get(self.block)
        if known is None:
            known = TurnAnswer(0, self._network.probability(samples), 0.0)
            self._heard.said[self.block] = known
        answer = TurnAnswer(number, known.probability, known.took_ms)
        self._due.append((self.block + self._late_blocks, answer))

    def pop_answer(self) -> TurnAnswer | None:
        if self._due and self._due[0][0] <= self.block:
            return self._due.pop(0)[1]
        return None


def ended_ms(
    heard: HeardTurn, settings: TurnSettings, network: TurnNetwork | None, late_ms: float
) -> float:
    """When the turn would have been ended: ms of sound since its beginning; inf if never."""
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
