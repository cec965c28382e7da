"""Barge-in: whether a sound over an answer was a backchannel, an interruption or noise."""
