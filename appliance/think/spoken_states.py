"""Whether this model's hidden states can be spoken, and the tap that reads them if so."""

from __future__ import annotations

import logging

from appliance.errors import ModelError
from appliance.runtime.ipc.token_states import RingStates, StateWriter
from appliance.think.drawn_states import DrawnStates
from appliance.think.gemma import Gemma
from appliance.think.state_tap import LAYERS, StateTap

log = logging.getLogger("thinker")


def states_of(gemma: Gemma, write: StateWriter) -> DrawnStates | None:
    """What tells the states of its tokens to `write`; None, and a line in the log, where there are
    none: then a text voice speaks."""
    try:
        tap = StateTap(gemma.context, gemma.model)
        if not RingStates.fits(LAYERS + 1, gemma.width):
            raise ModelError(f"The model is {gemma.width} wide: wider than a ring of states holds.")
    except ModelError as error:
        log.warning("%s A text voice speaks.", error.problem)
        return None
    return DrawnStates(tap, write)
