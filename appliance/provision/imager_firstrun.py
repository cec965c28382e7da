"""firstrun.sh of Raspberry Pi Imager before its version 2: what it would have set. Never run.

It calls /usr/lib/raspberrypi-sys-mods/imager_custom with one job and its words a line; all else in
it is for systems without that program.
"""

from __future__ import annotations

import shlex

from appliance.provision.seed import Seed, WifiNetwork

_PROGRAM = "/imager_custom"


def from_script(text: str) -> Seed:
    seed = Seed()
    for line in text.splitlines():
        words = _words(line)
        if len(words) > 2 and words[0].endswith(_PROGRAM):
            seed = _job(words[1], words[2:]).merged_with(seed)
    return seed


def _words(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError:  # a line of some other language: of a text that the script would write
        return []


def _job(job: str, words: list[str]) -> Seed:
    match job:
        case "set_hostname":
            return Seed(hostname=words[0])
        case "set_timezone":
            return Seed(timezone=words[0])
        case "enable_ssh":
            return Seed(keys=tuple(word.strip() for word in words if word != "-k"))
        case "set_wlan":
            plain = [word for word in words if word != "-h"]
            name, password, country = (*plain, "", "", "")[:3]
            return Seed(wifi=WifiNetwork(name.encode(), password, "-h" in words), country=country)
    return Seed()
