"""The English voice of the box: the network of hibari-tts, as a program of its own beside the
speaker. docs/voices.md."""
