"""End-of-turn detection: by the sound of the speech, or by silence alone."""
