"""Chooses the model by the owner's settings: one on this box or one on a server."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from appliance.messages.thinking import RECALL_TIMES
from appliance.models.store import resolve
from appliance.runtime.ipc.token_states import StateWriter
from appliance.runtime.memory_files import path
from appliance.runtime.process_table import Process
from appliance.settings import Settings
from appliance.think import encoder_files
from appliance.think.interface import LanguageModel
from appliance.think.prompt_state_cache import FOLDER, PromptStateCache
from appliance.think.snapshot_store import Snapshots
from appliance.think.template_check import compare_later
from appliance.tools.table import available

if TYPE_CHECKING:
    from appliance.think.local import LocalGemma


def choose(
    settings: Settings,
    row: Process,
    states: StateWriter | None = None,
    kind: Callable[..., LocalGemma] | None = None,
) -> Callable[[], LanguageModel]:
    """Return a function that loads the model; it may take a minute and raise an InterludeError.
    `states`: receives the hidden states of an answer's tokens from a model on this box. `kind`:
    the class of such a model, if not LocalGemma."""

    memory = path(settings) if saves_recall_state(settings) else None
    if memory is None or settings.thinking.remote.url:
        Snapshots(path(settings)).drop()  # left by another model or by earlier settings

    def remote() -> LanguageModel:
        from appliance.think.remote import RemoteModel

        return RemoteModel(settings.thinking, available(settings))

    def local() -> LanguageModel:
        from appliance.think.local import LocalGemma  # imports llama.cpp, so only where needed

        threads = settings.thinking.threads or usable_threads(row.cores)
        tools = available(settings)
        files = resolve(settings)
        encoder = None
        if settings.thinking.audio_encoder == "streaming":
            folder = settings.state_path() / encoder_files.FOLDER
            encoder = encoder_files.open_encoder(files.audio, folder, threads)
        model = (kind or LocalGemma)(
            files, settings.thinking, threads, tools,
            openings=PromptStateCache(settings.state_path() / FOLDER), memory=memory,
            recall_turns=settings.memory.recall_turns, encoder=encoder, states=states,
        )  # fmt: skip
        compare_later(model.template, model.style)
        return model

    return remote if settings.thinking.remote.url else local


def saves_recall_state(settings: Settings) -> bool:
    """Whether the computed state of the recalled turns is saved for the next start. It is not if it
    could hold a turn that the memory has deleted since."""
    memory = settings.memory
    return memory.recall_turns > 0 and memory.keep_turns >= RECALL_TIMES * memory.recall_turns


def usable_threads(cores: tuple[int, ...]) -> int:
    """Return the number of cores of the process table's row that exist here; if none does, all
    cores but one."""
    here = os.sched_getaffinity(0)
    return len(here.intersection(cores)) or max(1, len(here) - 1)
