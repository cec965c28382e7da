"""Models: which there are, where they come from, and what of them is on this box."""
