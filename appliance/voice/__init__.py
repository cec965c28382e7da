"""Speaking: sentences in, sound of the box's rate out. One interface, two synthesisers."""
