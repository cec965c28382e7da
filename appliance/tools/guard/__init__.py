"""Reads a request to the house: whether it may open, unlock, uncover or disarm something."""
