"""Interlude: a voice appliance that stops talking when you start."""

import os

__version__ = "0.1.0"

# onnxruntime sends usage data to its makers, with an identifier of this machine. The variable has
# to be set before onnxruntime is imported (its Privacy.md).
os.environ["ORT_DISABLE_TELEMETRY"] = "1"
# huggingface_hub asks its makers' server once a day which calling programs it should report.
os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"
