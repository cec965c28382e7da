"""A voice made from the language model's hidden states: a speech head and a codec."""
