"""Writes a block map (bmap-tools' format 2.0): an image's blocks that have data, with checksums.

With it a card is written in a third of the time, and every block is verified.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from xml.sax.saxutils import quoteattr

from image.disk import BLOCK, written

_PLACEHOLDER = "0" * 64  # for the file's own checksum while that is computed


def block_map(image: Path) -> str:
    """The block map of `image`, as XML."""
    size = image.stat().st_size
    runs, mapped = [], 0
    with image.open("rb") as file:
        for first, last in written(image):
            file.seek(first * BLOCK)
            digest = hashlib.sha256()
            remaining = min((last + 1) * BLOCK, size) - first * BLOCK
            while remaining:
                chunk = file.read(min(remaining, 1 << 22))
                digest.update(chunk)
                remaining -= len(chunk)
            mapped += last + 1 - first
            blocks = str(first) if first == last else f"{first}-{last}"
            runs.append(f"    <Range chksum={quoteattr(digest.hexdigest())}> {blocks} </Range>")
    text = "\n".join(
        (
            '<?xml version="1.0" ?>',
            '<bmap version="2.0">',
            f"  <ImageSize> {size} </ImageSize>",
            f"  <BlockSize> {BLOCK} </BlockSize>",
            f"  <BlocksCount> {-(-size // BLOCK)} </BlocksCount>",
            f"  <MappedBlocksCount> {mapped} </MappedBlocksCount>",
            "  <ChecksumType> sha256 </ChecksumType>",
            f"  <BmapFileChecksum> {_PLACEHOLDER} </BmapFileChecksum>",
            "  <BlockMap>",
            *runs,
            "  </BlockMap>",
            "</bmap>",
            "",
        )
    )
    return text.replace(_PLACEHOLDER, hashlib.sha256(text.encode()).hexdigest(), 1)
