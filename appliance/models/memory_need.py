"""Memory that a model needs, and whether the machine has that much. Pure."""

from __future__ import annotations

from appliance.models.catalogue import CatalogueModel
from appliance.runtime.process_table import PROCESSES

# Added to the model's size: the memory limits of all processes.
PARTS_MIB = sum(process.memory_mib for process in PROCESSES)
SHARE_PERCENT = 90  # of the machine's memory: MemoryMax= of interlude.service


def need_mib(model: CatalogueModel) -> int:
    """Memory of the machine in MiB that is needed to run that model; 0 if no language model."""
    if model.kind != "language" or not model.size:
        return 0
    return 100 * ((model.size >> 20) + PARTS_MIB) // SHARE_PERCENT


def fits(model: CatalogueModel, memory_mib: int | None) -> bool:
    """Whether the model fits into `memory_mib`; True if the machine's memory is unknown."""
    return memory_mib is None or need_mib(model) <= memory_mib
