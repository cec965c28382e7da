"""A tiny release contains what the programs of its test boxes import, checked without starting a
box."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from image.test import bluetooth, debian_guest, tiny

# What the boxes of image/test run of a tiny release. The parser of the sentences is imported by the
# first sentence that is not plain text.
SAYS = """from appliance.language.catalogue import english
english().say("persona-one-language", language="x")"""
RELEASES = f"""import appliance.cli.release, appliance.cli.config, appliance.cli.provision
{SAYS}"""
SETS_UP = f"""import appliance.cli.provision, appliance.provision.network_checks
import appliance.dialog.control_socket, appliance.provision.setup_server
{SAYS}"""
BY_PHONE = f"{SETS_UP}\nimport appliance.provision.improv.service, improv_ble_client, bleak"


@pytest.mark.process
@pytest.mark.parametrize(
    ("needed", "imports"),
    [(tiny.NEEDED, RELEASES), (debian_guest.SETUP_NEEDS, SETS_UP), (bluetooth.NEEDED, BY_PHONE)],
    ids=["fleet", "air", "bluetooth"],
)
def test_a_tiny_release_contains_the_imports_of_its_programs(
    tmp_path: Path, needed: tuple[str, ...], imports: str
) -> None:
    tree = tiny.plant(tmp_path / "release", "good", needed=needed)
    done = subprocess.run(
        [sys.executable, "-S", "-c", imports],  # without this machine's own packages
        env={**os.environ, "PYTHONPATH": str(tree / "lib"), "PYTHONDONTWRITEBYTECODE": "1"},
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
