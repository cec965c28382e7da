"""Makes the real release, as `make release` does for this machine, under versions of a test's own.

It also makes the software sound card that a box in a container needs to run it; the test has the
room's side of the card.
"""

from __future__ import annotations

import platform
import re
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path

from appliance.update.archive_parts import sign_archive
from appliance.update.release.pack import pack
from lab.sim.alsa_plugin import alsa_environment, plugin_path
from lab.sim.simulated_card import SoundCard
from scripts import release

ROOM = "var/lib/interlude/room"  # a folder that the service may write
LIBRARY = "usr/local/lib/libasound_module_pcm_simcard.so"
SETTINGS = {"card": {"capture": "sim", "playback": "sim"}}


def releases(
    into: Path,
    key: Path,
    versions: tuple[str, ...],
    change: Callable[[Path], None] = lambda _: None,
) -> list[Path]:
    """Make one archive for each version; they differ in nothing else.

    `change` may edit the tree from which all of them are made.
    """
    tree = into / "real"
    logs = into / "logs"
    logs.mkdir()
    release.plant(tree, logs)
    change(tree)
    own = tree / "lib/appliance/__init__.py"
    made = []
    for version in versions:
        text = re.sub(r'^__version__ = ".*"', f'__version__ = "{version}"', own.read_text(),
                      flags=re.MULTILINE)  # fmt: skip
        own.write_text(text)
        for compiled in (own.parent / "__pycache__").glob("__init__.*"):
            compiled.unlink()
        made.append(
            pack(tree, into, version=version, machine=platform.machine(),
                 python=f"{sys.version_info.major}.{sys.version_info.minor}",
                 made_s=int(time.time()), level=1)
        )  # fmt: skip
        sign_archive(made[-1], key)
    shutil.rmtree(tree)
    return made


def sound_card(root: Path) -> SoundCard:
    """A software sound card in the box with that root; it exists until it is closed."""
    shutil.copy(plugin_path(), root / LIBRARY)
    folder = root / ROOM
    folder.mkdir(parents=True)
    card = SoundCard.create(folder / "card", 48_000)
    (folder / "card").chmod(0o666)
    where = alsa_environment(folder, {"sim": Path("/", ROOM, "card")}, Path("/", LIBRARY))
    shutil.move(where["ALSA_CONFIG_PATH"], root / "etc/asound.conf")
    return card
