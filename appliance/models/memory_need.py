"""How much memory of the machine a model needs, and whether it has that much. Pure."""

from __future__ import annotations

from appliance.models.catalogue import CatalogueModel
from appliance.runtime.process_table import PROCESSES

# Beside the model: what every part of the box may take, and what the system has for itself.
PARTS_MIB = sum(process.memory_mib for process in PROCESSES)
SYSTEM_MIB = 256


def need_mib(model: CatalogueModel) -> int:
    """Of the whole machine, while that model answers; 0 for one that is no language model."""
    if model.kind != "language" or not model.size:
        return 0
    return (model.size >> 20) + PARTS_MIB + SYSTEM_MIB


def fits(model: CatalogueModel, memory_mib: int | None) -> bool:
    """Whether a machine of `memory_mib` has room for it; True where nobody knows."""
    return memory_mib is None or need_mib(model) <= memory_mib
