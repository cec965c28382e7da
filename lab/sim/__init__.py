"""Simulates an owner and a room around the software sound card, for the demo and rehearsals."""
