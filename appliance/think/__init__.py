"""Thinking: the owner's words as sound in, sentences out. The model has a process of its own."""
