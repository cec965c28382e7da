"""Rules for every test, those of the image too: its tier, what it may start, when it may skip."""

import os

# As the supervisor sets it for the parts: beside each other, threads of BLAS wait for each other.
# Before numpy is imported, which reads it once.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

pytest_plugins = [
    "tests.garbage",
    "tests.programs",
    "tests.in_memory",
    "tests.isolation",
    "tests.skips",
    "tests.tiers",
    "tests.shuffle",
    "tests.lanes",
    "tests.stuck",
]
