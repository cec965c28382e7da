"""Shared memory and sockets between the processes. README.md tells the layout in prose."""
