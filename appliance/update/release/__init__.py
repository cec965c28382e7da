"""Releases on the box: verified, tried, kept or taken back."""
