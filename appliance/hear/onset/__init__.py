"""Onsets: whether and where somebody begins to speak, from blocks of 5 ms."""
