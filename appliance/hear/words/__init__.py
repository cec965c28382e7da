"""Words: the wake word, and a few words said over the box."""
