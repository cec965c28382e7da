"""Opens a signed archive of any kind: verifies its manifest and locates its contents."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

from appliance.errors import ReleaseRefused
from appliance.update import signature
from appliance.update.archive_parts import ArchivePart, open_parts
from appliance.update.handed_over_file import HandedOverFile, open_handed_over
from appliance.update.signed_manifest import SignedManifest

M = TypeVar("M", bound=SignedManifest)


class OpenedArchive(NamedTuple, Generic[M]):
    """An archive with a verified manifest.

    `manifest_bytes`: the signed bytes of the manifest. `signatures`: of these bytes. `contents`:
    the place of each content, in their order.
    """

    manifest: M
    manifest_bytes: bytes
    signatures: bytes
    contents: tuple[ArchivePart, ...]


@dataclass(frozen=True)
class ArchiveKind(Generic[M]):
    """A kind of signed archive.

    kind        its name in error messages
    suffix      of the file's name
    most_bytes  limit of the file's size
    name        of the manifest
    parse       decodes the manifest; raises ReleaseRefused for one of another kind, since a valid
                signature does not tell the kind
    contents    the names of its other parts, after manifest and signature
    """

    kind: str
    suffix: str
    most_bytes: int
    name: str
    parse: Callable[[bytes], M]
    contents: tuple[str, ...]

    @property
    def parts(self) -> tuple[str, ...]:
        """The names of all its parts, in their order."""
        return self.name, f"{self.name}.sig", *self.contents

    def open(self, file: HandedOverFile, signers: Path) -> OpenedArchive[M]:
        """Verify the signature and parse the manifest, in this order.

        So no unsigned manifest is parsed or quoted in an error. Raises ReleaseRefused for a file of
        another kind, or without a signature by a key in `signers`.
        """
        data, signature_bytes, contents = open_parts(file, self.kind, *self.parts)
        signature.verify(data, signature_bytes, signers)
        return OpenedArchive(self.parse(data), data, signature_bytes, contents)

    def peek(self, file: Path | HandedOverFile) -> M | None:
        """The manifest, not verified; None for a file of another kind. For lists only."""
        try:
            with open_handed_over(file, self.most_bytes) as opened:
                data, _, _ = open_parts(opened, self.kind, *self.parts)
            return self.parse(data)
        except ReleaseRefused:
            return None
