"""Applies the set-up form to the box; a new Wi-Fi is tried before it is saved.

A box whose owner asks for set-up may have a Wi-Fi that works. It stays on the card until the box
has connected to the new one: after a mistyped password, a set-up without a network or a power cut,
the box still has its previous Wi-Fi. In a set-up that nobody asked for, the Wi-Fi becomes a second
one, until the owner confirms it: anyone who hears the box say its password can type into the page.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from appliance.errors import StorageError
from appliance.provision.apply_seed import (
    ProvisionTarget,
    apply,
    is_saved,
    keep_wifi,
    put_back_wifi,
)
from appliance.provision.network_manager import OURS, UNCONFIRMED
from appliance.provision.seed import Seed
from appliance.provision.seed_files import HOST


class SetupChanges(Protocol):
    """The changes that set-up makes; BoxChanges implements them.

    apply          writes a seed; a saved Wi-Fi stays on the card. Returns NetworkManager's name for
                   the seed's Wi-Fi: UNCONFIRMED if it is neither `confirmed` nor the saved one
    keep_wifi      saves that Wi-Fi on the card
    put_back_wifi  restores the saved Wi-Fi; returns whether another was tried; never raises

    The first two raise SeedRefused, StorageError.
    """

    def apply(self, seed: Seed, *, confirmed: bool) -> str: ...
    def keep_wifi(self, name: str) -> None: ...
    def put_back_wifi(self) -> bool: ...


@dataclass(frozen=True)
class BoxChanges:
    """Changes this box. `renames`: sets the host name of the running system."""

    target: ProvisionTarget
    renames: Callable[[str], object]
    logs: Callable[[str], object]

    def apply(self, seed: Seed, *, confirmed: bool) -> str:
        if seed.wifi is not None and not confirmed:
            confirmed = is_saved(seed.wifi, self.target)
        if HOST in apply(seed, self.target, tried=True, confirmed=confirmed):
            self.renames(seed.hostname)
        return OURS if confirmed else UNCONFIRMED

    def keep_wifi(self, name: str) -> None:
        keep_wifi(self.target, confirmed=name == OURS)

    def put_back_wifi(self) -> bool:
        try:
            return put_back_wifi(self.target)
        except StorageError as error:
            self.logs(error.problem)
            return False
