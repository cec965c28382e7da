"""Measurements: what `interlude bench` prints, from the real processes or faster than real time."""
