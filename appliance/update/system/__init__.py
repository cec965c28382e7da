"""A/B updates of the system: the slot that does not run is written, tried once, and kept or not."""
