"""Rules for every test, those of the image too: its tier, what it may start, when it may skip."""

pytest_plugins = ["tests.programs", "tests.skips", "tests.tiers"]
