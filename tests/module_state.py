"""What our modules hold: their attributes, those of their classes, the contents of their lists,
dicts and sets, and what functools keeps of their functions' results."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import _lru_cache_wrapper, partial
from itertools import chain
from types import ModuleType
from typing import Any

_MISSING = object()
Change = tuple[str, Callable[[], object]]  # its name, and a call that undoes it


def _differ(now: Any, before: Any) -> bool:
    """The comparison of two containers passes over objects that are the same in both."""
    try:
        return bool(now != before)
    except ValueError:  # arrays: their comparison has no single truth value
        return True


class _Attributes:
    """Of a module or a class."""

    def __init__(self, name: str, owner: ModuleType | type) -> None:
        self._name = name
        self._owner = owner
        self._now: Mapping[str, Any] = vars(owner)
        self._saved = dict(self._now)
        self.views: list[Iterable[Any]] = [self._now.values()]

    def changes(self) -> Iterator[Change]:
        if not _differ(self._now, self._saved):
            return
        before, self._saved = self._saved, dict(self._now)
        for key in dict.fromkeys([*before, *self._saved]):
            old, new = before.get(key, _MISSING), self._saved.get(key, _MISSING)
            # The import system adds submodules, and names of its own such as __file__.
            if new is not old and not key.startswith("__") and not isinstance(new, ModuleType):
                yield f"{self._name}.{key}", partial(self._set, key, old)

    def _set(self, key: str, value: Any) -> None:
        if value is _MISSING:
            delattr(self._owner, key)
        else:
            setattr(self._owner, key, value)
        self._saved = dict(self._now)


class _Contents:
    """Of a list, a dict or a set."""

    def __init__(self, name: str, holder: Any) -> None:
        self._name = name
        self._holder = holder
        self._saved = holder.copy()
        self.views = [holder, holder.values()] if isinstance(holder, dict) else [holder]

    def changes(self) -> Iterator[Change]:
        if _differ(self._holder, self._saved):
            yield f"the contents of {self._name}", partial(self._set, self._saved)
            self._saved = self._holder.copy()

    def _set(self, saved: Any) -> None:
        self._holder.clear()
        add = self._holder.extend if isinstance(saved, list) else self._holder.update
        add(saved)
        self._saved = saved


class ModuleState:
    """Watches the modules of `packages`, each from the first `changes` after its import."""

    def __init__(self, packages: tuple[str, ...]) -> None:
        self._packages = packages
        self._seen: set[str] = set()
        self._watched: list[_Attributes | _Contents] = []
        self._views: list[Iterable[Any]] = []
        self._objects: list[Any] = []  # all that the views had
        self._caches: dict[int, Any] = {}

    def changes(self) -> list[Change]:
        """Those since the last call."""
        # One comparison of 80,000 objects takes 2 ms; one for each module takes twice as long.
        changed = _differ(list(chain.from_iterable(self._views)), self._objects)
        found = [change for each in self._watched if changed for change in each.changes()]
        new = sorted(sys.modules.keys() - self._seen)
        self._seen.update(new)
        for name in filter(self._is_ours, new):
            self._watch(name, sys.modules[name])
        if changed or new:
            self._views = [view for each in self._watched for view in each.views]
            self._objects = list(chain.from_iterable(self._views))
        return found

    def clear_caches(self) -> None:
        """Drop what functools.cache and lru_cache keep for functions of these modules."""
        for cached in self._caches.values():
            cached.cache_clear()

    def _is_ours(self, module: str) -> bool:
        return module.partition(".")[0] in self._packages

    def _watch(self, name: str, owner: ModuleType | type) -> None:
        self._watched.append(_Attributes(name, owner))
        for key, value in list(vars(owner).items()):
            label = f"{name}.{key}"
            if isinstance(value, _lru_cache_wrapper) and self._is_ours(value.__module__):
                self._caches[id(value)] = value
            elif isinstance(value, type) and f"{value.__module__}.{value.__qualname__}" == label:
                self._watch(label, value)
            elif type(value) in {list, dict, set} and not key.startswith("__"):
                self._watched.append(_Contents(label, value))
