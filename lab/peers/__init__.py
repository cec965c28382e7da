"""Other voice programs in the simulated room: each runs in a process and an environment of its own.

Nothing here imports more of this project than its sound format, so that the environment holds the
compared programs alone. `lab.bench.peer_device` is the other end of the pipe.
"""
