"""Applies the set-up form to the box; a new Wi-Fi is tried before it is saved.

A box whose owner asks for set-up may have a Wi-Fi that works. It stays on the card until the box
has connected to the new one: after a mistyped password, a set-up without a network or a power cut,
the box still has its previous Wi-Fi.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from appliance.errors import StorageError
from appliance.provision.apply_seed import ProvisionTarget, apply, keep_wifi, put_back_wifi
from appliance.provision.seed import Seed
from appliance.provision.seed_files import HOST


class SetupChanges(Protocol):
    """The changes that set-up makes; BoxChanges implements them.

    apply          writes a seed; `tried`: a saved Wi-Fi stays on the card
    keep_wifi      saves the Wi-Fi of the running system on the card
    put_back_wifi  restores the saved Wi-Fi; returns whether another was tried; never raises

    The first two raise SeedRefused, StorageError.
    """

    def apply(self, seed: Seed, *, tried: bool) -> None: ...
    def keep_wifi(self) -> None: ...
    def put_back_wifi(self) -> bool: ...


@dataclass(frozen=True)
class BoxChanges:
    """Changes this box. `renames`: sets the host name of the running system."""

    target: ProvisionTarget
    renames: Callable[[str], object]
    logs: Callable[[str], object]

    def apply(self, seed: Seed, *, tried: bool) -> None:
        if HOST in apply(seed, self.target, tried=tried):
            self.renames(seed.hostname)

    def keep_wifi(self) -> None:
        keep_wifi(self.target)

    def put_back_wifi(self) -> bool:
        try:
            return put_back_wifi(self.target)
        except StorageError as error:
            self.logs(error.problem)
            return False
