"""The card's two systems: one runs, the other is written, tried once, and kept or not."""
