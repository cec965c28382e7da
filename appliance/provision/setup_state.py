"""Whether the box has been set up yet: by a seed, by the page, by ssh or by Ansible."""

from __future__ import annotations

import yaml

from appliance.provision.apply_seed import ProvisionTarget
from appliance.provision.seed_files import CONNECTION, HOST, KEYS, SETTINGS, VOICE_WANTED, WANTED


def untouched(target: ProvisionTarget) -> bool:
    """Whether there is no Wi-Fi, host name, key, wanted model or setting. An unreadable settings
    file counts as set up."""
    saved = any((target.keep / path).exists() for path in (CONNECTION, HOST, KEYS))
    running = any(
        (target.root / path).exists() for path in (CONNECTION, KEYS, WANTED, VOICE_WANTED)
    )
    if saved or running:
        return False
    try:
        return not yaml.safe_load((target.root / SETTINGS).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return True
    except (OSError, ValueError, yaml.YAMLError, RecursionError):
        return False
