"""`interlude system change|network|try-broker`: carries out requests of the page.

In: one record in a folder in memory (runtime/handed_request.py), which is deleted whatever it
contains. Out: the owner's settings file, the Wi-Fi, the time zone, or a broker's answer; and the
outcome, where the page may read it. Root checks every value again: the page has no privileges.
"""

from __future__ import annotations

import os
import pwd
from collections.abc import Callable
from pathlib import Path

from appliance.cli import startup_settings
from appliance.errors import InterludeError
from appliance.mqtt import broker, broker_trial
from appliance.provision.change_network import NetworkChanges
from appliance.provision.network_manager import NmcliNetworks
from appliance.runtime import handed_request
from appliance.runtime.handed_request import CHANGED, WANTED, RequestOutcome
from appliance.runtime.listening_socket import set_up_is_open
from appliance.settings import SYSTEM_FILE, Settings
from appliance.settings.network_change import (
    BROKER_ANSWER,
    BROKER_TRIAL,
    NETWORK,
    BrokerTrial,
    NetworkChange,
)
from appliance.settings.owner_settings import OwnerSettings
from appliance.settings.settings_change import REQUEST, SettingsChange

USER = "interlude"  # requests of other users are ignored


def cli(doing: str, settings: Callable[[], Settings]) -> int:
    match doing:
        case "change":
            return cli_change()
        case "network":
            return cli_network()
        case _:
            return cli_try_broker(settings)


def cli_change(
    path: Path = SYSTEM_FILE,
    secret: Path = broker.SECRET,
    *,
    wanted: Path = WANTED,
    changed: Path = CHANGED,
    user: int | None = None,
    check: Callable[[Settings], object] = startup_settings.check,
) -> int:
    """Make the requested change of settings. Raises StorageError if its outcome cannot be
    written."""
    user_id = pwd.getpwnam(USER).pw_uid if user is None else user
    change = handed_request.pop(REQUEST, SettingsChange, user_id, wanted)
    if change is None:
        return _no_request()
    try:
        OwnerSettings(path, secret, check).change(change)
    except InterludeError as error:
        print(f"<4>not changed: {error}")
        outcome = RequestOutcome.of_error(change.id, error)
    else:
        print(f"changed: {', '.join(sorted(_changed_keys(change)))}")
        outcome = RequestOutcome(change.id)
    handed_request.tell(REQUEST, outcome, changed)
    return 0


def cli_network(
    changes: NetworkChanges | None = None,
    *,
    wanted: Path = WANTED,
    changed: Path = CHANGED,
    user: int | None = None,
) -> int:
    """Make the requested change of the network or the time zone. Raises StorageError if its
    outcome cannot be written.

    On SIGTERM the command raises SystemExit, so that a change that is not complete is undone.
    """
    user_id = pwd.getpwnam(USER).pw_uid if user is None else user
    request = handed_request.pop(NETWORK, NetworkChange, user_id, wanted)
    if request is None:
        return _no_request()
    outcome = (changes or NetworkChanges(NmcliNetworks(), set_up=set_up_is_open)).change(request)
    print(f"<4>{request.doing}: {outcome.problem}" if outcome.problem else f"{request.doing}: done")
    handed_request.tell(NETWORK, outcome, changed)
    return 0


def cli_try_broker(settings: Callable[[], Settings], folder: Path = WANTED) -> int:
    """Test the broker that was entered on the page. Runs as the box's own user."""
    request = handed_request.pop(BROKER_TRIAL, BrokerTrial, os.geteuid(), folder)
    if request is None:
        return _no_request()
    handed_request.tell(BROKER_ANSWER, broker_trial.try_broker(request, settings()), folder)
    return 0


def _no_request() -> int:
    print("<4>there was no valid request")  # a warning: sd-daemon(3)
    return 0


def _changed_keys(change: SettingsChange) -> list[str]:
    """The keys of the change without their values, which may be secret, for the log."""
    return [*change.values, *(["password"] * bool(change.secret)), *(["undone"] * change.undo)]
