"""Opens a LocalGemma and gives the test access to its engine."""

from __future__ import annotations

from typing import Any, ClassVar
from weakref import WeakKeyDictionary

from appliance.models.local_model import LocalModel
from appliance.settings import ThinkingSettings
from appliance.think.gemma import Gemma
from appliance.think.local import LocalGemma


class RememberedGemma(Gemma):
    """Records each instance. `made`: those that `open_local` has not assigned yet."""

    made: ClassVar[list[RememberedGemma]] = []

    def __init__(self, *files: Any, **how: Any) -> None:
        super().__init__(*files, **how)
        self.made.append(self)


_ENGINES: WeakKeyDictionary[LocalGemma, Gemma] = WeakKeyDictionary()


def open_local(
    model: LocalModel, thinking: ThinkingSettings, threads: int, **how: Any
) -> LocalGemma:
    """A LocalGemma whose engine `gemma_of` returns."""
    RememberedGemma.made.clear()
    opened = LocalGemma(model, thinking, threads, engine=RememberedGemma, **how)
    _ENGINES[opened] = RememberedGemma.made.pop()
    return opened


def gemma_of(model: LocalGemma) -> Gemma:
    """The engine of a model opened by `open_local`."""
    return _ENGINES[model]
