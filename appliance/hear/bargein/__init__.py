"""Barge-in: whether speech over the box was a backchannel, an interruption or a noise."""
