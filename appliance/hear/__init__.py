"""Hearing: from the microphone's samples to utterances, onsets and verdicts."""
