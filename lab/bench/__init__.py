"""The benches of `interlude bench`, on the real processes or simulated faster than real time."""
