"""A voice's program as one file: a tar of voice.json, its signature, and the packed tree. Signed
and unpacked like a release, by the same code."""

from __future__ import annotations

from pathlib import Path

from appliance.update.handed_over_file import HandedOverFile
from appliance.update.release.archive import TREE, SignedArchive
from appliance.update.signed_archive import ArchiveKind
from appliance.voice.engine import manifest as manifests
from appliance.voice.engine.manifest import EngineManifest

BUNDLE = ArchiveKind(
    "voice program",
    ".voice",
    512 << 20,  # Piper's has 60 MiB, and a voice 60 more
    manifests.NAME,
    manifests.parse,
    (TREE,),
)


class EngineArchive(SignedArchive[EngineManifest]):
    """One whose manifest is signed by somebody whom this box trusts. Its tree is not read."""

    def __init__(self, handed: HandedOverFile, signers: Path) -> None:
        """Raises ReleaseRefused for a file that is none, or not signed by any of `signers`."""
        super().__init__(handed, signers, BUNDLE)
