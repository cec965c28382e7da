"""Code that runs with the rights of a part, as a fault in that part would let it run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

# Run as the part: with the rights of its row, as the worker gives the others up.
ATTACK = """
import errno, json, os, signal, socket, subprocess, sys
from pathlib import Path
from appliance.runtime.worker import _give_up_rights
from appliance.settings import load
part, state, *arguments = sys.argv[1:]
state = Path(state)
# Programs that the attack needs, before the rights are gone.
settings = load(Path(os.devnull), json.loads(arguments.pop(0)) | {"state_dir": str(state)})
lacking = [limit for limit in _give_up_rights(part, settings) if limit]
assert not lacking, lacking
def attempt(act):
    try:
        act()
    except OSError as error:
        return errno.errorcode[error.errno]
    return "done"
found = {}
"""


def attack(part: str, state: Path, code: str, *arguments: str, **settings: Any) -> dict[str, str]:
    """What happened to each attempt of `code`, which fills `found`."""
    home = state.parent / "home"
    home.mkdir(exist_ok=True)
    environment = {**os.environ, "STATE_DIRECTORY": str(state), "HOME": str(home)}
    done = subprocess.run(
        [sys.executable, "-c", f"{ATTACK}{code}\nprint(json.dumps(found))", part, str(state),
         json.dumps(settings), *arguments],
        capture_output=True, text=True, check=False, env=environment,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found: dict[str, str] = json.loads(done.stdout)
    return found
