"""A bundle of a voice's program: a tar of voice.json, its signature, and the packed tree. The code
that signs and unpacks it is that of a release."""

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
    512 << 20,  # limit in bytes: Piper's has 60 MiB, and a voice 60 more
    manifests.NAME,
    manifests.parse,
    (TREE,),
)


class EngineArchive(SignedArchive[EngineManifest]):
    """A bundle whose manifest is signed by a key that this box trusts. Its tree is not read yet."""

    def __init__(self, source_file: HandedOverFile, signers: Path) -> None:
        """Raises ReleaseRefused for a file that is not a bundle, or not signed by any of
        `signers`."""
        super().__init__(source_file, signers, BUNDLE)
