"""The lab: simulated rooms and benchmarks. For a checkout; neither in the wheel nor on the box."""
