"""Acoustic echo cancellation: what of the box's own voice the microphone hears."""
