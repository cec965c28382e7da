"""Changes the Wi-Fi or the time zone on a request of the page; this is the part that runs as root.

A Wi-Fi is tried before it is saved: the connection is first written to the running system, whose
/etc is in memory, and to the data partition only after the box has connected with it. After a
failed connection, a power cut or an interruption, the box still has its previous Wi-Fi.
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
from appliance.provision.apply_seed import (
    MOST_WIFI_BYTES,
    ProvisionTarget,
    apply,
    keep_wifi,
)
from appliance.provision.network_manager import OURS
from appliance.provision.refusal import SayableRefusal
from appliance.provision.seed import Seed, WifiNetwork, check
from appliance.provision.seed_files import CONNECTION, UNCONFIRMED, confirmed_connection
from appliance.runtime.handed_request import RequestOutcome
from appliance.settings.network_change import NetworkChange


class ChangedNetworks(Protocol):
    """The operations that a change needs; NmcliNetworks implements them."""

    def device(self) -> str: ...
    def names(self) -> list[str]: ...
    def enter(self, name: str) -> setup_sentences.Sentence: ...
    def join(self) -> setup_sentences.Sentence: ...


@dataclass(frozen=True)
class NetworkChanges:
    """Carries out network changes. `set_up`: whether the set-up Wi-Fi is open; it then uses the
    radio, and only the set-up page may change the Wi-Fi."""

    radio: ChangedNetworks
    target: ProvisionTarget = field(default_factory=ProvisionTarget)
    set_up: Callable[[], bool] = lambda: False
    words: Catalogue = field(default_factory=english)

    def change(self, request: NetworkChange) -> RequestOutcome:
        """Carry out a request. An InterludeError is returned as an outcome, not raised."""
        try:
            if request.doing == "timezone":
                return self._timezone(request)
            if not self.radio.device():
                raise StorageError(
                    "This machine has no Wi-Fi.", shown=ShownAs.of("page-wrong-no-wifi")
                )
            if self.set_up():
                shown = ShownAs.of("page-wrong-in-set-up")
                remedy = "Do it on its own Wi-Fi's page."
                raise StorageError("The box is being set up.", remedy, shown=shown)
            if request.doing == "look":
                return RequestOutcome(request.id, names=tuple(self.radio.names()))
            return self._confirm(request) if request.doing == "confirm" else self._wifi(request)
        except InterludeError as error:
            return RequestOutcome.of_error(request.id, error)

    def _timezone(self, request: NetworkChange) -> RequestOutcome:
        seed = Seed(timezone=request.timezone)
        if seed.empty:
            raise SayableRefusal(BoxSentence.of("page-wrong-zone-missing"))
        apply(seed, self.target)
        return RequestOutcome(request.id)

    def _wifi(self, request: NetworkChange) -> RequestOutcome:
        if not request.wifi:
            raise SayableRefusal(BoxSentence.of("setup-page-wrong-wifi-missing"))
        seed = Seed(wifi=WifiNetwork(request.wifi.encode(), request.password, request.hidden))
        check(seed)
        target = self.target
        running = ProvisionTarget(target.root, target.root, target.disk)
        return self._replace(request, lambda: apply(seed, running))

    def _confirm(self, request: NetworkChange) -> RequestOutcome:
        """Make the second Wi-Fi the saved one."""
        target = self.target
        text = _content(target.root / UNCONFIRMED)
        if text is None:
            shown = ShownAs.of("page-wrong-nothing-to-confirm")
            raise StorageError("There is no Wi-Fi to confirm.", shown=shown)
        try:
            ours = confirmed_connection(text.decode("utf-8")).encode()
        except ValueError as error:
            shown = ShownAs.of("page-wrong-network-asked")
            raise StorageError("The file of that Wi-Fi is damaged.", shown=shown) from error
        return self._replace(request, lambda: write_whole(target.root / CONNECTION, ours, 0o600))

    def _replace(self, request: NetworkChange, write: Callable[[], object]) -> RequestOutcome:
        """Write a connection to the running system, and save it once the box has joined it."""
        connection, connected = self.target.root / CONNECTION, False
        before = _content(connection)
        try:
            write()
            problem = self.radio.enter(OURS)
            connected = not problem
        finally:
            if not connected:
                self._restore(connection, before)
        if problem:
            shown = None if isinstance(problem, str) else problem.shown
            raise StorageError(setup_sentences.in_words(problem, self.words), shown=shown)
        keep_wifi(self.target)
        return RequestOutcome(request.id)

    def _restore(self, connection: Path, before: bytes | None) -> None:
        """Restore the connection's file, and join any known network."""
        if before is None:
            connection.unlink(missing_ok=True)
        else:
            write_whole(connection, before, 0o600)
        self.radio.join()


def _content(path: Path) -> bytes | None:
    try:
        return read_small(path, MOST_WIFI_BYTES)
    except FileNotFoundError:
        return None
    except OSError as error:
        shown = ShownAs.of("page-wrong-network-asked")
        problem = f"{path.name} cannot be read ({error.strerror})."
        raise StorageError(problem, shown=shown) from error
