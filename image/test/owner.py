"""The owner in the machine of air.py, who hears what the box says and has a phone.

Out: one line of JSON on the console, after `FACTS `.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from appliance.language.catalogue import english
from appliance.provision.apply_seed import ProvisionTarget, apply
from appliance.provision.network_checks import network_findings
from appliance.provision.network_manager import OURS, NmcliNetworks
from appliance.provision.seed import Seed, WifiNetwork
from appliance.provision.setup_sentences import in_words
from appliance.runtime import network_status
from image.test.hearing import Hearing

INVITED = re.compile(r"named Interlude ((?:\d ){3}\d)\..* They are: ([A-Za-z. ]+?)\. Then open")
Fact = str | float | list[str] | dict[str, Any]  # a JSON value


def main() -> None:
    box = Hearing()
    facts: dict[str, Fact] = {"said": box.said}
    try:
        invitation = box.heard("They are:")
        facts["invited_s"] = time.monotonic()  # since the kernel's start
        facts["open"] = json.loads((network_status.FOLDER / network_status.FILE).read_text())
        facts["check"] = [finding.sentence for finding in network_findings()]
        found = INVITED.search(invitation)
        if found is None:
            raise SystemExit(f"no invitation: {invitation}")
        name = "Interlude " + found[1].replace(" ", "")
        password = found[2].replace(".", "").replace(" ", "").lower()
        done = subprocess.run(
            ["ip", "netns", "exec", "phone", sys.executable, "-m", "image.test.phone",
             name, password],
            capture_output=True, text=True, check=False, env={**os.environ, "LC_ALL": "C.UTF-8"},
        )  # fmt: skip
        if done.returncode:
            raise SystemExit(f"the phone: {done.stdout} {done.stderr}")
        facts["phone"] = json.loads(done.stdout.splitlines()[-1])
        facts["set_up"] = box.heard("set up. ")
        radio = NmcliNetworks()
        joined = radio.joined()
        facts["joined"] = radio.ssid(joined.connection) if joined else ""
        facts["after"] = [finding.sentence for finding in network_findings()]
        apply(
            Seed(wifi=WifiNetwork(b"Nowhere", "correct horse")),
            ProvisionTarget(keep=Path("/data/keep")),
        )
        # `join` would take the one that was typed, which the box keeps beside its owner's.
        facts["away"] = in_words(radio.enter(OURS), english())
    finally:
        print("FACTS " + json.dumps(facts), flush=True)
    print("the owner has done it all", flush=True)


main()
