"""Runs the language model in its own process: the owner's speech in, answer sentences out."""
