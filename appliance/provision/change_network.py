"""Another Wi-Fi, or another time zone, as the page has asked: root's half.

A Wi-Fi is tried before it is kept: the connection is written to the system that runs, whose /etc is
memory, and to the data partition only when the box has entered the network by it. A network that
does not let it in, a power cut or an end on the way leaves the one before.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from appliance.atomic_file import read_small, write_whole
from appliance.errors import InterludeError, ShownAs, StorageError
from appliance.language.catalogue import BoxSentence, Catalogue, english
from appliance.provision import setup_sentences
from appliance.provision.apply_seed import MOST_WIFI_BYTES, ProvisionTarget, apply
from appliance.provision.refusal import SayableRefusal
from appliance.provision.seed import Seed, WifiNetwork, check
from appliance.provision.seed_files import CONNECTION
from appliance.runtime.handed_request import RequestOutcome
from appliance.settings.network_change import NetworkChange


class ChangedNetworks(Protocol):
    """What of the networks a change needs; NmcliNetworks is the real one."""

    def device(self) -> str: ...
    def names(self) -> list[str]: ...
    def enter_ours(self) -> setup_sentences.Sentence: ...
    def join(self) -> setup_sentences.Sentence: ...


@dataclass(frozen=True)
class NetworkChanges:
    """`set_up`: whether the box's own Wi-Fi is open; then the page of the set-up has the radio."""

    radio: ChangedNetworks
    ground: ProvisionTarget = field(default_factory=ProvisionTarget)
    set_up: Callable[[], bool] = lambda: False
    words: Catalogue = field(default_factory=english)

    def change(self, asked: NetworkChange) -> RequestOutcome:
        """Never raises for what is asked; it is told."""
        try:
            if asked.doing == "timezone":
                return self._timezone(asked)
            if not self.radio.device():
                raise StorageError(
                    "This machine has no Wi-Fi.", shown=ShownAs.of("page-wrong-no-wifi")
                )
            if self.set_up():
                shown = ShownAs.of("page-wrong-in-set-up")
                remedy = "Do it on its own Wi-Fi's page."
                raise StorageError("The box is being set up.", remedy, shown=shown)
            if asked.doing == "look":
                return RequestOutcome(asked.id, names=tuple(self.radio.names()))
            return self._wifi(asked)
        except InterludeError as error:
            return RequestOutcome.of_error(asked.id, error)

    def _timezone(self, asked: NetworkChange) -> RequestOutcome:
        seed = Seed(timezone=asked.timezone)
        if seed.empty:
            raise SayableRefusal(BoxSentence.of("page-wrong-zone-missing"))
        apply(seed, self.ground)
        return RequestOutcome(asked.id)

    def _wifi(self, asked: NetworkChange) -> RequestOutcome:
        if not asked.wifi:
            raise SayableRefusal(BoxSentence.of("setup-page-wrong-wifi-missing"))
        seed = Seed(wifi=WifiNetwork(asked.wifi.encode(), asked.password, asked.hidden))
        check(seed)
        ground = self.ground
        running = ProvisionTarget(ground.root, ground.root, ground.disk)
        place, entered = ground.root / CONNECTION, False
        before = _content(place)
        try:
            apply(seed, running)
            problem = self.radio.enter_ours()
            entered = not problem
        finally:
            if not entered:
                self._go_back(place, before)
        if problem:
            shown = None if isinstance(problem, str) else problem.shown
            raise StorageError(setup_sentences.in_words(problem, self.words), shown=shown)
        apply(seed, ground)
        return RequestOutcome(asked.id)

    def _go_back(self, place: Path, before: bytes | None) -> None:
        """The file as it was, and the box in whichever network it knows."""
        if before is None:
            place.unlink(missing_ok=True)
        else:
            write_whole(place, before, 0o600)
        self.radio.join()


def _content(place: Path) -> bytes | None:
    try:
        return read_small(place, MOST_WIFI_BYTES)
    except FileNotFoundError:
        return None
    except OSError as error:
        shown = ShownAs.of("page-wrong-network-asked")
        problem = f"{place.name} cannot be read ({error.strerror})."
        raise StorageError(problem, shown=shown) from error
