"""`interlude bench endpoint`: the wait after the last word against the rate of false cut-offs.

It compares two rules on the same sounds: a fixed silence, and the judged end of a turn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
import numpy as np

from appliance.errors import ModelError
from appliance.hear.turn.turn_network import TurnNetwork
from appliance.pcm import RATE_HZ
from appliance.settings import TurnSettings
from lab.bench import intervals
from lab.bench.benches import BenchError, BenchOptions, FigureTable, spread
from lab.bench.endpoint_cost import QUESTIONS, beside_live_sound, question_cost
from lab.bench.endpoint_replay import BLOCK_MS, HeardTurn, ended_ms, process_turn
from lab.bench.endpoint_turns import turns

EVENTS = 120  # sentences of each material
CUT_SHARES = (0.5, 0.4, 0.3, 0.2, 0.15, 0.1, 0.05)  # at which both rules are compared
SILENCES_MS = tuple(range(200, 1701, 50))
SLOW_MS = 250  # a question's time on a Cortex-A76: an estimate, not measured
GOAL_SHARE, GOAL_RATIO = 0.05, 0.65
# (sure, likely, unsure_ms, unlikely_ms), from the shortest to the longest waits. The thresholds are
# from the cross-validation of the head (training/turn), which used no sound of this bench.
LADDER = (
    (0.50, 0.30, 500, 700),
    (0.60, 0.40, 600, 900),
    (0.65, 0.50, 600, 1200),
    (0.75, 0.50, 700, 1200),
    (0.75, 0.50, 700, 1400),
    (0.75, 0.50, 900, 1300),
    (0.80, 0.50, 1000, 1400),
    (0.80, 0.60, 1200, 1450),
    (0.85, 0.60, 1200, 1500),
    (0.85, 0.50, 1400, 1400),
    (0.92, 0.70, 1300, 1500),
)
_MS = 1000 / RATE_HZ


@dataclass(frozen=True)
class RuleFigures:
    """The figures of one rule over many turns.

    cut      turns with a pause that were ended before the owner continued
    pauses   turns with a pause
    waits_ms from the last word to the end, of each turn without a pause that was not ended early
    early    turns without a pause that were ended before the last word
    """

    cut: int
    pauses: int
    waits_ms: tuple[float, ...]
    early: int

    @property
    def share(self) -> float:
        return self.cut / self.pauses if self.pauses else 0.0

    @property
    def mean_ms(self) -> float:
        return float(np.mean(self.waits_ms)) if self.waits_ms else float("nan")


def bench(options: BenchOptions) -> list[FigureTable]:
    """Two tables for each material, the cost of a question, and the listener's lateness."""
    try:
        network = TurnNetwork()
    except ModelError as error:
        raise BenchError("The network for the end of a turn is missing.", str(error)) from error
    sources, _ = options.recorded()
    hearing = options.settings.hearing
    replays = [
        process_turn(turn, hearing)
        for turn in turns(sources, options.events or EVENTS, options.seed)
    ]
    cost, late_ms = question_cost(
        [replay.sound(len(replay.silent) - 1) for replay in replays], network
    )
    sheets = []
    for material in dict.fromkeys(replay.turn.material for replay in replays):
        of_material = [replay for replay in replays if replay.turn.material == material]
        sheets.append(as_set(material, of_material, hearing.turn, network, late_ms))
        sheets.append(curve(material, of_material, hearing.turn, network, late_ms))
    if not any(replay.turn.material == "recorded orders" for replay in replays):
        sheets[0].notes.append("No recorded sentences: no folder `commands` (--recordings DIR).")
    questions = min(QUESTIONS, options.events or QUESTIONS)
    return [*sheets, cost, beside_live_sound(hearing, network, questions)]


def as_set(
    material: str,
    replays: list[HeardTurn],
    turn: TurnSettings,
    network: TurnNetwork,
    late_ms: float,
) -> FigureTable:
    """Both rules with the values of the settings."""
    columns = ("rule", "cut off", "95 %", "of", "mean ms", "p50", "p95", "p99", "max", "n")
    sheet = FigureTable(f"{material}: as the settings say", columns)
    silent = msgspec.structs.replace(turn, judge="none")
    rules = (
        (f"silence of {turn.end_ms} ms", silent, None),
        ("judged by its sound", turn, network),
        (f"the same, answers {SLOW_MS} ms late", turn, network),
    )
    for number, (name, settings, judge) in enumerate(rules):
        figures = play(replays, settings, judge, late_ms if number < 2 else SLOW_MS)
        low, high = intervals.share(figures.cut, figures.pauses)
        sheet.rows.append(
            (name, f"{100 * figures.share:.1f} %", f"{100 * low:.0f} to {100 * high:.0f}",
             figures.pauses, round(figures.mean_ms), *spread(figures.waits_ms, 0))
        )  # fmt: skip
        if figures.early:
            sheet.notes.append(f"{name}: {figures.early} turns without an inserted pause were "
                               "ended before their last word.")  # fmt: skip
    sheet.notes.append(
        "Cut off: turns with a pause of 0.2 to 1.5 s inside the sentence that were ended in this "
        "pause. The wait, ms: from the last word of a turn without such a pause to its end."
    )
    return sheet


def curve(
    material: str,
    replays: list[HeardTurn],
    turn: TurnSettings,
    network: TurnNetwork,
    late_ms: float,
) -> FigureTable:
    """The mean wait of both rules at the same shares of false cut-offs."""
    silences = [
        play(replays, msgspec.structs.replace(turn, end_ms=ms), None, 0.0) for ms in SILENCES_MS
    ]
    judged = [
        play(replays, _with_rung(turn, rung), network, late_ms)
        for rung in LADDER
    ]  # fmt: skip
    columns = ("cut off at most", "silence alone: mean ms", "judged: mean ms", "ratio")
    sheet = FigureTable(f"{material}: the wait at the same share of false cut-offs", columns)
    for share in CUT_SHARES:
        silence_ms, judged_ms = wait_at(silences, share), wait_at([*judged, *silences], share)
        ratio = judged_ms / silence_ms if silence_ms and judged_ms else float("nan")
        sheet.rows.append(
            (f"{100 * share:g} %", _cell(silence_ms), _cell(judged_ms), f"{ratio:.2f}")
        )
    for rung, figures in zip(LADDER, judged, strict=True):
        sheet.events.append(
            {
                "rung": rung,
                "cut": figures.cut,
                "pauses": figures.pauses,
                "waits_ms": figures.waits_ms,
            }
        )
    sheet.notes.append(
        f"Goal: at {100 * GOAL_SHARE:g} % at most {GOAL_RATIO} of the wait with silence alone. "
        f"Judged: the best of {len(LADDER)} settings chosen on other recordings, and of silence."
    )
    return sheet


def play(
    replays: Sequence[HeardTurn], turn: TurnSettings, network: TurnNetwork | None, late_ms: float
) -> RuleFigures:
    """Run one rule over all turns; the network's answers arrive `late_ms` after the question."""
    cut = pauses = early = 0
    waits = []
    for replay in replays:
        ended = ended_ms(replay, turn, network, late_ms)
        if replay.turn.pause is not None:
            pauses += 1
            cut += ended < replay.turn.pause[1] * _MS
        elif ended < replay.turn.end * _MS:
            early += 1
        else:
            waits.append(min(ended, len(replay.silent) * BLOCK_MS) - replay.turn.end * _MS)
    return RuleFigures(cut, pauses, tuple(waits), early)


def wait_at(rules: Sequence[RuleFigures], share: float) -> float | None:
    """The shortest mean wait of the rules that cut off at most `share`; None if there is none."""
    fit = [rule.mean_ms for rule in rules if rule.share <= share]
    return min(fit) if fit else None


def _with_rung(turn: TurnSettings, rung: tuple[float, float, int, int]) -> TurnSettings:
    sure, likely, unsure_ms, unlikely_ms = rung
    return msgspec.structs.replace(
        turn, sure=sure, likely=likely, unsure_ms=unsure_ms, unlikely_ms=unlikely_ms
    )


def _cell(ms: float | None) -> str | float:
    return "–" if ms is None else round(ms)
