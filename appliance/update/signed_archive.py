"""A signed file of any kind, opened: its verified manifest, and where its contents lie."""

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
    """`said`: the manifest as it was signed. `contents`: where each lies, in their order."""

    manifest: M
    said: bytes
    contents: tuple[ArchivePart, ...]


@dataclass(frozen=True)
class ArchiveKind(Generic[M]):
    """One kind of file that may be handed over.

    kind        for its owner
    suffix      of the file's name
    most_bytes  of such a file
    name        of its manifest, which `parse` reads and which raises ReleaseRefused for that of
                another kind: the signature says nothing of the kind
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

    def open(self, handed: HandedOverFile, signers: Path) -> OpenedArchive[M]:
        """Raises ReleaseRefused for a file of another kind, or not signed by any of `signers`.

        The signature comes first: nothing of a stranger's manifest is understood or repeated.
        """
        said, signed, contents = open_parts(handed, self.kind, *self.parts)
        signature.verify(said, signed, signers)
        return OpenedArchive(self.parse(said), said, contents)

    def peek(self, file: Path | HandedOverFile) -> M | None:
        """What a file says it is, unverified; None if it is of another kind. For lists, not for
        trust."""
        try:
            with open_handed_over(file, self.most_bytes) as handed:
                said, _, _ = open_parts(handed, self.kind, *self.parts)
            return self.parse(said)
        except ReleaseRefused:
            return None
