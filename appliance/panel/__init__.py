"""The panel: button, mute switch and light on the housing."""
