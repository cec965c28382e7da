"""The causes of a restart of the box, each as it happens on a box: name → function that does it."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable

from image.test import harm
from image.test.kitchen import ID, Kitchen

# Run in the box, as its own user: what its services and its panel do for a restart. For "model" no
# model has been downloaded, but the announcer's own code runs as if one had.
TOLD = """
import sys, tempfile, time, types
from pathlib import Path
from appliance.runtime import factory_reset
from appliance.messages.commands import Restart, Say
from appliance.models.download_announcer import ModelAnnouncer
from appliance.models.download_news import DownloadNews
from appliance.models.store import ModelStore
from appliance.settings import load
from appliance.cli import tell
settings, why = load(None), sys.argv[1]
def told(message): tell.send_command(settings, message)
def restart(): told(Restart())
if why == "model":
    models = ModelStore.of(settings).models
    store = types.SimpleNamespace(models=models, state=lambda model: "installed")
    says = lambda text: told(Say(text, chime=True))
    with tempfile.TemporaryDirectory() as memory:
        ModelAnnouncer(store, Path(memory), says, lambda: False, restart, time.sleep,
        time.monotonic,
                  lambda: 12).announce(DownloadNews(model=next(iter(models)), kind="here"))
elif why == "reset":
    factory_reset.request_reset(settings.state_path())
    restart()
else:
    restart()
"""


def by_the_house(at: Kitchen) -> None:
    """The button in Home Assistant; the box ignores it for the first minute after a start."""
    before = at.now().pid

    def pressed() -> bool:
        at.ear.publish(f"interlude/{ID}/cmd/restart", "PRESS")
        return at.now().pid != before

    began_s = time.monotonic()
    while not pressed():
        assert time.monotonic() - began_s < 90, "Home Assistant's restart was never taken"
        limit_s = time.monotonic() + 5
        while time.monotonic() < limit_s and at.now().pid == before:
            time.sleep(0.01)


def by_the_door(how: str) -> Callable[[Kitchen], None]:
    """Through the control socket, as the box's own user: as after the download of a model, at the
    end of set-up, and from a shell."""

    def tell(at: Kitchen) -> None:
        at.inside("runuser", "-u", "interlude", "--", "env", "HOME=/var/lib/interlude",
                  "STATE_DIRECTORY=/var/lib/interlude",
                  "PYTHONPATH=/opt/interlude/current/lib", "PYTHONDONTWRITEBYTECODE=1",
                  "/usr/bin/python3", "-c", TOLD, how)  # fmt: skip

    return tell


def by_an_update(at: Kitchen) -> None:
    archive = "/opt/interlude/incoming/new.release"
    at.inside("interlude", "release", "install", archive, "--wait", "60")


def by_a_rollback(at: Kitchen) -> None:
    at.inside("interlude", "release", "rollback", "--wait", "60")


def by_systemd(at: Kitchen) -> None:
    at.inside("systemctl", "restart", "interlude.service")


def by_the_watchdog(at: Kitchen) -> None:
    harm.sends(signal.SIGSTOP)(at.parts()["supervisor"])


def by_a_kill(at: Kitchen) -> None:
    harm.sends(signal.SIGKILL)(at.parts()["supervisor"])


WAYS: dict[str, Callable[[Kitchen], None]] = {
    "Home Assistant's restart": by_the_house,
    "the model's arrival": by_the_door("model"),
    "set-up's end": by_the_door("set-up"),
    "a factory reset": by_the_door("reset"),
    "an update": by_an_update,
    "a rollback": by_a_rollback,
    "systemctl restart": by_systemd,
    "SIGKILL of the supervisor": by_a_kill,
    "the watchdog": by_the_watchdog,
}
QUIET = ("an update", "a rollback")  # the owner must be silent: a trial waits for silence
FORGETS = ("a factory reset",)
