"""The box's English voice: the network of hibari-tts, in a process separate from the speaker
(docs/voices.md)."""
