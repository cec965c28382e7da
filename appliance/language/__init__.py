"""The box's own sentences, one Fluent file per language, and identification of languages."""
