"""Packs a tree with bin/voice into a bundle without a signature; reproducibly, byte for byte."""

from __future__ import annotations

import hashlib
import io
from pathlib import Path
from typing import Any

from appliance.update.archive_parts import write_parts
from appliance.update.release.pack import squeeze
from appliance.update.signed_manifest import version_key
from appliance.voice.engine.archive import BUNDLE
from appliance.voice.engine.manifest import EngineManifest


def pack(tree: Path, into: Path, *, level: int = 9, **fields: Any) -> Path:
    """Write the bundle of `tree` to the folder `into`. `level`: of gzip. `fields`: those of the
    manifest that are not computed from the tree. Raises ReleaseRefused."""
    version_key(fields["version"])
    data, files_bytes = squeeze(tree, level)
    manifest = EngineManifest(
        **fields,
        tree_sha256=hashlib.sha256(data).hexdigest(),
        tree_bytes=len(data),
        files_bytes=files_bytes,
    )
    with_voices = "".join(f"-{voice}" for voice in manifest.voices)
    name = f"{manifest.engine}{with_voices}-{manifest.version}-{manifest.machine}{BUNDLE.suffix}"
    path = into / name
    write_parts(path, BUNDLE.parts, manifest.encode(), manifest.made_s, io.BytesIO(data))
    return path
