"""The page: the web interface of the box for browsers in the local network."""
