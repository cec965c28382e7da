"""What the model may do besides talking: calls in its answer, and what becomes of them."""
