"""Updates: one signed container; releases, and the systems of a card, installed from it."""
