"""What the box itself says, a file a language (Fluent), and which language a sentence is in."""
