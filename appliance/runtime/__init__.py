"""Running: the process table, the supervisor, shared memory, and what every process needs."""
