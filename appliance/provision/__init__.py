"""A new card's first start: what its owner said of the box before, and what every box needs."""
