"""Speaking: sentences in, sound at the box's rate out; one interface for all synthesisers."""
