"""Acoustic echo cancellation: removes the box's own voice from the microphone's sound."""
