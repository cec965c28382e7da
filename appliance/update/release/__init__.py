"""Releases on the box: verification, installation, trial and rollback."""
