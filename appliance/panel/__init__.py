"""The panel: what the owner presses, and the light that answers."""
