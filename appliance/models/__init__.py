"""Models: the catalogue, downloads, and the store of model files on this box."""
