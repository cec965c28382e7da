"""The end of a turn: judged by its sound, or by silence alone."""
