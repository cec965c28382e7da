"""Size of a slot of the ring `states`, which holds one token (token_states.py). Constants only."""

from __future__ import annotations

MOST_ROWS = 7  # the embedding and six layers (think/state_tap.py)
MOST_WIDTH = 2560  # of Gemma 4 E4B; E2B has 1536
SAMPLES = MOST_ROWS * MOST_WIDTH * 2  # per slot: 72 kB; a smaller model touches less of it
