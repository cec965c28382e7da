"""Writes a list for Raspberry Pi Imager with our system as its only entry.

With the list Imager 2 offers its form (host name, Wi-Fi, ssh key, time zone), which it does not
offer for a bare image file. Format: raspberrypi/rpi-imager, doc/json-schema/os-list-schema.json.
Imager then writes cloud-init files, which provision/seed_parsers.py reads. Not tried with Imager
yet.
"""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

from appliance.models.model_disk import sha256_of

SUFFIX = ".rpi-imager-manifest"
DOWNLOAD = "INTERLUDE_DOWNLOAD"  # base URL of the download; without it the list has file: URLs
_TAG = "pi5-64bit"


def manifest(packed: Path, image: Path, version: str, time_s: int) -> str:
    """The list as JSON. `packed`: the file that is downloaded; `image`: what it unpacks to.

    The block map is in the folder of `packed`. Imager uses it when it writes over USB, but not for
    cards.
    """
    entry = {
        "name": f"Interlude {version}",
        "description": "A voice appliance that stops talking when you start",
        "icon": "icons/use_custom.png",  # included in Imager
        "url": _url(packed),
        "bmap_url": _url(packed.with_name(packed.name.replace(".img.zst", ".bmap"))),
        "extract_size": image.stat().st_size,
        "extract_sha256": sha256_of(image),
        "image_download_size": packed.stat().st_size,
        "image_download_sha256": sha256_of(packed),
        "release_date": time.strftime("%Y-%m-%d", time.gmtime(time_s)),
        "init_format": "cloudinit-rpi",
        "devices": [_TAG],
        "architecture": "armv8",
    }
    board = {
        "name": "Raspberry Pi 5",
        "description": "Raspberry Pi 5, 500, 500+ and Compute Module 5",
        "icon": "icons/use_custom.png",
        "tags": [_TAG],
        "default": True,
        "matching_type": "exclusive",
    }
    return json.dumps({"imager": {"devices": [board]}, "os_list": [entry]}, indent=2) + "\n"


def _url(file: Path) -> str:
    """The URL of the file: below INTERLUDE_DOWNLOAD if that is set, else a file: URL."""
    base = os.environ.get(DOWNLOAD, "").rstrip("/")
    return f"{base}/{file.name}" if base else file.resolve().as_uri()
