"""Shared memory and sockets between the processes. README.md describes the layout."""
