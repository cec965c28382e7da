"""Messages between processes, one file for each domain."""
