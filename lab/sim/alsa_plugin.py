"""Makes ALSA in a process use the software sound card: the plugin's path, and a configuration."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from appliance.errors import CardError
from appliance.runtime.places import SOUND_FILES


def plugin_path() -> Path:
    """Path of the ALSA plugin, built by `make -C hw/simcard`. Raises CardError if it is missing."""
    built = Path(__file__).parents[2] / "hw/simcard/build/libasound_module_pcm_simcard.so"
    if not built.is_file():
        raise CardError("The software sound card is not built.", "Run `make -C hw/simcard`.")
    return built


def alsa_environment(
    folder: Path, cards: Mapping[str, Path], plugin: Path | None = None
) -> dict[str, str]:
    """Write `folder`/asound.conf and return the variables that make ALSA use it.

    `cards` maps the names of PCMs to the files of cards: {"sim": path} makes the device "sim".
    What /usr/share/alsa defines (plug, null, hw) stays usable.
    """
    library = plugin or plugin_path()
    lines = ["</usr/share/alsa/alsa.conf>", f"pcm_type.simcard {{ lib {_quoted(library)} }}"]
    lines += [f"pcm.{name} {{ type simcard shm {_quoted(path)} }}" for name, path in cards.items()]
    config = folder / "asound.conf"
    config.write_text("\n".join(lines) + "\n", encoding="utf-8")
    files = os.pathsep.join(str(path.absolute()) for path in (library, *cards.values()))
    return {"ALSA_CONFIG_PATH": str(config), SOUND_FILES: files}


def _quoted(path: Path) -> str:
    text = str(path.absolute())
    if any(character in text for character in '"\\\n'):
        raise CardError(f"ALSA's configuration cannot contain the path {text!r}.")
    return f'"{text}"'
