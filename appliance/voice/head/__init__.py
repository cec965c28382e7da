"""A voice that is made of the language model's own hidden states: a speech head and a codec."""
