"""The page: what a browser in the house sees of the box, and what it may tell it."""
