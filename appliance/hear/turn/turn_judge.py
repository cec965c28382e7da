"""Makes the judge of the end of a turn, as the settings choose."""

from __future__ import annotations

import logging
from pathlib import Path

from appliance.errors import ModelError
from appliance.hear.network_judge import BackgroundJudge
from appliance.hear.turn.turn_network import MODEL, TurnNetwork
from appliance.settings import TurnSettings


def make_judge(
    settings: TurnSettings, log: logging.Logger, model: Path = MODEL
) -> BackgroundJudge[float] | None:
    """The judge that the settings choose. None if silence decides; the log says why."""
    if settings.judge == "none":
        log.info("a turn ends after %d ms of silence: hearing.turn.judge is none", settings.end_ms)
        return None
    try:
        network = TurnNetwork(model)
    except ModelError as error:
        log.warning("a turn ends after %d ms of silence: %s", settings.end_ms, error)
        return None
    return BackgroundJudge(network.probability, "turn")
