"""Opens the tap for the model's hidden states if a voice can speak them."""

from __future__ import annotations

import logging

from appliance.errors import ModelError
from appliance.runtime.ipc.token_states import RingStates, StateWriter
from appliance.think.drawn_states import DrawnStates
from appliance.think.gemma import Gemma
from appliance.think.state_tap import LAYERS, StateTap

log = logging.getLogger("thinker")


def states_of(gemma: Gemma, write: StateWriter) -> DrawnStates | None:
    """Return the DrawnStates that writes the hidden states of `gemma`'s tokens to `write`. If the
    model gives none, log why and return None; a text voice then speaks."""
    try:
        tap = StateTap(gemma.context, gemma.model)
        if not RingStates.fits(LAYERS + 1, gemma.width):
            raise ModelError(f"The model is {gemma.width} wide: wider than a ring of states holds.")
    except ModelError as error:
        log.warning("%s A text voice speaks.", error.problem)
        return None
    return DrawnStates(tap, write)
