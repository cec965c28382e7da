"""A voice's program as one file: a tar of voice.json, its signature, and the packed tree. Signed
and unpacked like a release, by the same code."""

from __future__ import annotations

from pathlib import Path

from appliance.update.handed_over_file import HandedOverFile
from appliance.update.release.archive import ArchiveKind, SignedArchive
from appliance.voice.engine import manifest as manifests
from appliance.voice.engine.manifest import EngineManifest

SUFFIX = ".voice"
MOST_BYTES = 512 << 20  # of a bundle; Piper's has 60 MiB, and a voice 60 more
FORM = ArchiveKind("voice program", manifests.NAME, manifests.parse)


class EngineArchive(SignedArchive[EngineManifest]):
    """One whose manifest is signed by somebody whom this box trusts. Its tree is not read."""

    def __init__(self, handed: HandedOverFile, signers: Path) -> None:
        """Raises ReleaseRefused for a file that is none, or not signed by any of `signers`."""
        super().__init__(handed, signers, FORM)
