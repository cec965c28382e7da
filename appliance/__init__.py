"""Interlude: a voice appliance that stops talking when you start."""

__version__ = "0.1.0"
