"""Onset detection: whether and where speech begins, from blocks of 5 ms."""
