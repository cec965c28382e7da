"""Updates: a signed archive format, and the installation of releases and systems from it."""
