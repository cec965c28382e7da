"""Interlude: a voice appliance that stops talking when you start."""

import os

__version__ = "0.1.0"

# onnxruntime sends what it does to its makers, under a number that it gives this machine; before it
# is imported is the one time at which it can be told not to (its Privacy.md).
os.environ["ORT_DISABLE_TELEMETRY"] = "1"
# The hub's library asks its makers, once a day, which programs are to be named to them.
os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"
