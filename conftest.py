"""Rules for every test, those of the image too: what it may start, and when it may skip."""

pytest_plugins = ["tests.programs", "tests.skips"]
