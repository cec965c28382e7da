"""What set-up changes of the box: all that was typed, and its Wi-Fi at first as a trial.

Whoever asks for set-up may have a Wi-Fi that works. It stays on the card until another has let the
box in: a mistyped password, an end without a network or a power cut leaves the one before.
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
    """BoxChanges is the real one.

    apply          brings the box to a seed; `tried`: a Wi-Fi that it had stays the card's
    keep_wifi      makes the one that was tried the card's
    put_back_wifi  has the card's again; returns whether another was tried. Never raises

    The others raise SeedRefused, StorageError.
    """

    def apply(self, seed: Seed, *, tried: bool) -> None: ...
    def keep_wifi(self) -> None: ...
    def put_back_wifi(self) -> bool: ...


@dataclass(frozen=True)
class BoxChanges:
    """`renames`: has the running system know the host name that was typed."""

    ground: ProvisionTarget
    renames: Callable[[str], object]
    logs: Callable[[str], object]

    def apply(self, seed: Seed, *, tried: bool) -> None:
        if HOST in apply(seed, self.ground, tried=tried):
            self.renames(seed.hostname)

    def keep_wifi(self) -> None:
        keep_wifi(self.ground)

    def put_back_wifi(self) -> bool:
        try:
            return put_back_wifi(self.ground)
        except StorageError as error:
            self.logs(error.problem)
            return False
