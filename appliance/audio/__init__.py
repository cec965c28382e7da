"""The sound card: capture and playback, one process each, one sample rate inside the box."""
