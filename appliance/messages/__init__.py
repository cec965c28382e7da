"""Every message that crosses a process border, a file for each domain."""
