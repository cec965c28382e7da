"""Tools that the model can call in its answer: their table, call syntax, functions and timers."""
