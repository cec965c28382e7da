"""Words: recognises the wake word, and a few words said over an answer."""
