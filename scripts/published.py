"""Checks the files that a release publishes: for .github/workflows/release.yml, or by hand.

published.py tag TAG              the tag is the version of this tree
published.py signers SIGNERS      the file of public keys has a key of the releases' signer
published.py key KEY SIGNERS      only its owner can read the private key; its public half is in
                                  SIGNERS
published.py check DIR SIGNERS    every file of DIR by its signed checksum; the unpacked card with
                                  the block map and Raspberry Pi Imager's list; the bill of
                                  materials

Needs Python's standard library, ssh-keygen and zstd. Prints no secret. Exit code: 0, or 1 with a
sentence for each thing that is wrong.
"""

from __future__ import annotations

import json
import re
import stat
import subprocess
import sys
from collections.abc import Iterator
from hashlib import file_digest, sha256
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from xml.etree import ElementTree as ET

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from appliance import __version__
from appliance.errors import ReleaseRefused
from appliance.update import signature

KINDS = (".img.zst", ".bmap", ".cdx.json", ".tree", ".rpi-imager-manifest", ".system", ".release")
_NONE = "0" * 64  # in place of the block map's own checksum while that is computed
_CHUNK_BYTES = 1 << 22
# Raspberry Pi Imager 2.0.11: doc/json-schema/os-list-schema.json, and src/oslistmodel.cpp for the
# forms of customisation (Imager silently skips an entry with another).
ENTRY: dict[str, type] = {
    "name": str, "description": str, "icon": str, "url": str, "extract_size": int,
    "extract_sha256": str, "image_download_size": int, "release_date": str, "devices": list,
}  # fmt: skip
FORMS = ("", "none", "systemd", "cloudinit", "cloudinit-rpi", "rpi-preseed")
BOARD: dict[str, type] = {"name": str, "description": str, "tags": list}
KEYS = ("ssh-", "sk-", "ecdsa-")
HOW = ".github/SIGNERS.md"
ARCHITECTURES = ("armel", "armhf", "armv8")


def tag(name: str) -> list[str]:
    """Check a tag. Returns a sentence for each fault, as the functions below do."""
    return [] if name == f"v{__version__}" else [f"The tag {name} is not v{__version__}."]


def signers(path: Path) -> list[str]:
    """Check the file of public keys with which users verify a release."""
    if not path.is_file():
        return [f"{path} is missing: without it no signature can be verified. {HOW} says how "
                "to make it."]  # fmt: skip
    text = path.read_text(encoding="utf-8", errors="replace")
    if "PRIVATE KEY" in text:
        return [f"{path} contains a private key, which is public now. Make another, see {HOW}."]
    rows = [fields for line in text.splitlines() if (fields := line.split()) and line[0] != "#"]
    trusted = [fields for fields in rows if signature.WHO in fields[0].split(",")]
    if not trusted:
        return [f"{path} has no row of {signature.WHO}. {HOW} says how to make one."]
    return [f"A row of {signature.WHO} in {path} has no public key. {HOW} has an example."
            for fields in trusted if not _public(fields)]  # fmt: skip


def _public(row: list[str]) -> bool:
    """Whether the words of a row contain a valid public key."""
    kinds = [f"{kind} {blob}\n" for kind, blob in pairwise(row) if kind.startswith(KEYS)]
    return any(
        subprocess.run(["ssh-keygen", "-l", "-f", "-"], input=line, text=True, check=False,
                       capture_output=True).returncode == 0
        for line in kinds
    )  # fmt: skip


def key(path: Path, signers: Path) -> list[str]:
    """Check a private key. The sentences contain no part of it."""
    if stat.S_IMODE(path.stat().st_mode) & 0o077:
        return [f"{path} can be read by others."]
    if not signers.is_file():
        return [f"{signers} is missing: it has the public half of the key."]
    done = subprocess.run(
        ["ssh-keygen", "-y", "-P", "", "-f", path], capture_output=True, text=True, check=False
    )
    public = done.stdout.split()
    if done.returncode or len(public) < 2:
        return ["The secret is no private ssh key without a passphrase."]
    rows = (line for line in signers.read_text().splitlines() if not line.startswith("#"))
    if not any(public[1] in row.split() and signature.WHO in row.split() for row in rows):
        return [f"The secret is not the private half of {signature.WHO}'s key in {signers}."]
    return []


def check(folder: Path, signers: Path) -> list[str]:
    """Check all files of a release's folder."""
    faults = sums(folder, signers)
    if faults:  # the checks below rely on verified files
        return faults
    files = {kind: next(folder.glob(f"*{kind}")) for kind in KINDS}
    text = files[".rpi-imager-manifest"].read_text(encoding="utf-8")
    listed: Any = json.loads(text)
    faults = imager(listed)
    if faults:
        return faults
    packed, entry = files[".img.zst"], listed["os_list"][0]
    if Path(urlsplit(entry["url"]).path).name != packed.name:
        faults.append(f"Imager's list has the URL {entry['url']}, which is not {packed.name}.")
    if entry["image_download_size"] != packed.stat().st_size:
        faults.append("Imager's list has another size of the download.")
    return [
        *faults,
        *card(packed, files[".bmap"].read_text(), entry["extract_size"], entry["extract_sha256"]),
        *bill(json.loads(files[".cdx.json"].read_text())),
    ]


def sums(folder: Path, signers: Path) -> list[str]:
    """Check that the file of checksums is signed and correct, and that it lists every file."""
    sheets = list(folder.glob("*.sha256"))
    if len(sheets) != 1:
        return [f"{folder} has {len(sheets)} sheets of sums instead of one."]
    (sheet,) = sheets
    signed = sheet.with_name(f"{sheet.name}.sig")
    try:
        signature.verify(sheet.read_bytes(), signed.read_bytes(), signers)
    except (ReleaseRefused, OSError) as error:
        return [f"{sheet.name}: {error}"]
    rows = (row.partition("  ") for row in sheet.read_text().splitlines())
    listed = {name: digest for digest, _, name in rows}
    present = {path.name for path in folder.iterdir()} - {sheet.name, signed.name}
    faults = [f"{name} is listed, but missing." for name in sorted({*listed} - present)]
    faults += [f"{name} has no signed checksum." for name in sorted(present - {*listed})]
    faults += [
        f"There is not one file {kind}."
        for kind in KINDS
        if sum(name.endswith(kind) for name in listed) != 1
    ]
    faults += [
        f"{name} has another SHA-256 than was signed."
        for name in sorted(present & {*listed})
        if _sha256(folder / name) != listed[name]
    ]
    return faults


def imager(listed: Any) -> list[str]:
    """Check a list of systems against the format that Imager accepts."""
    if not isinstance(listed, dict) or not listed.get("os_list"):
        return ["Imager's list has no os_list."]
    boards = listed.get("imager", {}).get("devices", [])
    tags = {each for board in boards for each in board.get("tags", [])}
    faults = [f"A board: {each}" for board in boards for each in _lacks(board, BOARD)]
    for entry in listed["os_list"]:
        faults += _lacks(entry, ENTRY)
        if faults:
            continue
        if entry.get("init_format", "") not in FORMS:
            faults.append(f"Imager knows no init_format {entry['init_format']}.")
        if entry.get("architecture", "armv8") not in ARCHITECTURES:
            faults.append(f"Imager knows no architecture {entry['architecture']}.")
        if boards and not tags & {*entry["devices"]}:
            faults.append(f"No board of the list has one of the tags {entry['devices']}.")
        if not re.fullmatch(r"[0-9a-f]{64}", entry["extract_sha256"]):
            faults.append("extract_sha256 is no SHA-256.")
        if not re.fullmatch(r"\d{4}-\d\d-\d\d", entry["release_date"]):
            faults.append("release_date is no date.")
        faults += [
            f"{name} is {entry[name]}, which other machines cannot reach."
            for name in ("url", "bmap_url")
            if name in entry and urlsplit(entry[name]).scheme != "https"
        ]
    return faults


def card(packed: Path, block_map: str, size: int, digest: str) -> list[str]:
    """Unpack the card once; check its size, its checksum, and each range of the block map."""
    try:
        tree = ET.fromstring(block_map)  # noqa: S314  # its sum was signed
        fields = {each.tag: (each.text or "").strip() for each in tree}
        block = int(fields["BlockSize"])
        ranges = [
            (int(first) * block, (int(last or first) + 1) * block, each.attrib["chksum"])
            for each in tree.iter("Range")
            for first, _, last in [(each.text or "").strip().partition("-")]
        ]
    except (ET.ParseError, KeyError, ValueError):
        return ["The block map cannot be parsed."]
    faults = []
    own = fields["BmapFileChecksum"]
    if sha256(block_map.replace(own, _NONE, 1).encode()).hexdigest() != own:
        faults.append("The block map's own checksum is wrong.")
    if int(fields["ImageSize"]) != size:
        faults.append("The block map is for a card of another size.")
    image_hash, at = sha256(), 0
    remaining, range_hash = iter(ranges), sha256()
    current = next(remaining, None)
    for chunk in _unpacked(packed):
        image_hash.update(chunk)
        while current is not None and current[0] < at + len(chunk):
            range_hash.update(chunk[max(0, current[0] - at) : current[1] - at])
            if min(current[1], size) > at + len(chunk):
                break
            if range_hash.hexdigest() != current[2]:
                faults.append(
                    f"Bytes {current[0]} to {current[1]} of the card are not the block map's."
                )
            current, range_hash = next(remaining, None), sha256()
        at += len(chunk)
    if (at, image_hash.hexdigest()) != (size, digest):
        faults.append(f"{packed.name} unpacks to another card than Imager's list describes.")
    elif current is not None:
        faults.append("The block map has ranges after the card's end.")
    return faults


def bill(parts: Any) -> list[str]:
    """Check that the bill of materials lists parts with their versions."""
    if parts.get("bomFormat") != "CycloneDX" or not parts.get("components"):
        return ["The bill of materials is empty or invalid."]
    return [f"{each} is a part without a version." for each in parts["components"]
            if not (each.get("name") and each.get("version"))]  # fmt: skip


def _lacks(row: Any, wanted: dict[str, type]) -> list[str]:
    return [
        f"{name} is missing, or no {kind.__name__}."
        for name, kind in wanted.items()
        if not isinstance(row.get(name), kind) or row[name] in ("", 0, [])
    ]


def _unpacked(packed: Path) -> Iterator[bytes]:
    with subprocess.Popen(["zstd", "-dcq", packed], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        while chunk := process.stdout.read(_CHUNK_BYTES):
            yield chunk


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


def main(words: list[str]) -> int:
    match words:
        case ["tag", name]:
            faults = tag(name)
        case ["signers", path]:
            faults = signers(Path(path))
        case ["key", path, trusted]:
            faults = key(Path(path), Path(trusted))
        case ["check", folder, trusted]:
            faults = check(Path(folder), Path(trusted))
        case _:
            faults = [__doc__ or ""]
    for sentence in faults:
        print(sentence, file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
