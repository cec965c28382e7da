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
from hashlib import sha256
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
        return [f"{path} is missing: nobody could check what is signed here. {HOW} tells how "
                "to make it."]  # fmt: skip
    text = path.read_text(encoding="utf-8", errors="replace")
    if "PRIVATE KEY" in text:
        return [f"{path} holds a private key: everybody has it now. Make another, by {HOW}."]
    rows = [row for line in text.splitlines() if (row := line.split()) and line[0] != "#"]
    trusted = [row for row in rows if signature.WHO in row[0].split(",")]
    if not trusted:
        return [f"{path} has no row of {signature.WHO}. {HOW} tells how to make one."]
    return [f"A row of {signature.WHO} in {path} has no public key. {HOW} has an example."
            for row in trusted if not _public(row)]  # fmt: skip


def _public(row: list[str]) -> bool:
    """Whether the words of a row contain a valid public key."""
    kinds = [f"{kind} {blob}\n" for kind, blob in pairwise(row) if kind.startswith(KEYS)]
    return any(
        subprocess.run(["ssh-keygen", "-l", "-f", "-"], input=said, text=True, check=False,
                       capture_output=True).returncode == 0
        for said in kinds
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
        return [f"The secret is another key than that of {signature.WHO} in {signers}."]
    return []


def check(folder: Path, signers: Path) -> list[str]:
    """Check all files of a release's folder."""
    wrong = sums(folder, signers)
    if wrong:  # the checks below rely on verified files
        return wrong
    found = {kind: next(folder.glob(f"*{kind}")) for kind in KINDS}
    written = found[".rpi-imager-manifest"].read_text(encoding="utf-8")
    listed: Any = json.loads(written)
    wrong = imager(listed)
    if wrong:
        return wrong
    packed, entry = found[".img.zst"], listed["os_list"][0]
    if Path(urlsplit(entry["url"]).path).name != packed.name:
        wrong.append(f"Imager is sent to {entry['url']}, which is not {packed.name}.")
    if entry["image_download_size"] != packed.stat().st_size:
        wrong.append("Imager is told another size of the download.")
    return [
        *wrong,
        *card(packed, found[".bmap"].read_text(), entry["extract_size"], entry["extract_sha256"]),
        *bill(json.loads(found[".cdx.json"].read_text())),
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
    promised = {name: digest for digest, _, name in rows}
    there = {path.name for path in folder.iterdir()} - {sheet.name, signed.name}
    wrong = [f"{name} is signed for and not there." for name in sorted({*promised} - there)]
    wrong += [f"{name} is there and not signed for." for name in sorted(there - {*promised})]
    wrong += [
        f"There is not one file {kind}."
        for kind in KINDS
        if sum(name.endswith(kind) for name in promised) != 1
    ]
    wrong += [
        f"{name} has another SHA-256 than was signed."
        for name in sorted(there & {*promised})
        if _sha256(folder / name) != promised[name]
    ]
    return wrong


def imager(listed: Any) -> list[str]:
    """Check a list of systems against the format that Imager accepts."""
    if not isinstance(listed, dict) or not listed.get("os_list"):
        return ["Imager's list has no os_list."]
    boards = listed.get("imager", {}).get("devices", [])
    tags = {each for board in boards for each in board.get("tags", [])}
    wrong = [f"A board: {each}" for board in boards for each in _lacks(board, BOARD)]
    for entry in listed["os_list"]:
        wrong += _lacks(entry, ENTRY)
        if wrong:
            continue
        if entry.get("init_format", "") not in FORMS:
            wrong.append(f"Imager knows no init_format {entry['init_format']}.")
        if entry.get("architecture", "armv8") not in ARCHITECTURES:
            wrong.append(f"Imager knows no architecture {entry['architecture']}.")
        if boards and not tags & {*entry["devices"]}:
            wrong.append(f"No board of the list has one of the tags {entry['devices']}.")
        if not re.fullmatch(r"[0-9a-f]{64}", entry["extract_sha256"]):
            wrong.append("extract_sha256 is no SHA-256.")
        if not re.fullmatch(r"\d{4}-\d\d-\d\d", entry["release_date"]):
            wrong.append("release_date is no date.")
        wrong += [
            f"{name} is {entry[name]}, which nobody else can reach."
            for name in ("url", "bmap_url")
            if name in entry and urlsplit(entry[name]).scheme != "https"
        ]
    return wrong


def card(packed: Path, block_map: str, size: int, digest: str) -> list[str]:
    """Unpack the card once; check its size, its checksum, and each range of the block map."""
    try:
        tree = ET.fromstring(block_map)  # noqa: S314  # its sum was signed
        named = {each.tag: (each.text or "").strip() for each in tree}
        block = int(named["BlockSize"])
        ranges = [
            (int(first) * block, (int(last or first) + 1) * block, each.attrib["chksum"])
            for each in tree.iter("Range")
            for first, _, last in [(each.text or "").strip().partition("-")]
        ]
    except (ET.ParseError, KeyError, ValueError):
        return ["The block map is none."]
    wrong = []
    own = named["BmapFileChecksum"]
    if sha256(block_map.replace(own, _NONE, 1).encode()).hexdigest() != own:
        wrong.append("The block map's own sum does not hold.")
    if int(named["ImageSize"]) != size:
        wrong.append("The block map is one of a card of another size.")
    whole, at = sha256(), 0
    waiting, part = iter(ranges), sha256()
    now = next(waiting, None)
    for chunk in _unpacked(packed):
        whole.update(chunk)
        while now is not None and now[0] < at + len(chunk):
            part.update(chunk[max(0, now[0] - at) : now[1] - at])
            if min(now[1], size) > at + len(chunk):
                break
            if part.hexdigest() != now[2]:
                wrong.append(f"Bytes {now[0]} to {now[1]} of the card are not the block map's.")
            now, part = next(waiting, None), sha256()
        at += len(chunk)
    if (at, whole.hexdigest()) != (size, digest):
        wrong.append(f"{packed.name} unpacks to another card than Imager is told of.")
    elif now is not None:
        wrong.append("The block map goes on after the card's end.")
    return wrong


def bill(parts: Any) -> list[str]:
    """Check that the bill of materials lists parts with their versions."""
    if parts.get("bomFormat") != "CycloneDX" or not parts.get("components"):
        return ["The bill of parts is empty, or none."]
    return [f"{each} is a part without a version." for each in parts["components"]
            if not (each.get("name") and each.get("version"))]  # fmt: skip


def _lacks(row: Any, wanted: dict[str, type]) -> list[str]:
    return [
        f"{name} is missing, or no {kind.__name__}."
        for name, kind in wanted.items()
        if not isinstance(row.get(name), kind) or row[name] in ("", 0, [])
    ]


def _unpacked(packed: Path) -> Iterator[bytes]:
    with subprocess.Popen(["zstd", "-dcq", packed], stdout=subprocess.PIPE) as runs:
        assert runs.stdout is not None
        while chunk := runs.stdout.read(_CHUNK_BYTES):
            yield chunk


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        digest = sha256()
        while chunk := file.read(_CHUNK_BYTES):
            digest.update(chunk)
    return digest.hexdigest()


def main(words: list[str]) -> int:
    match words:
        case ["tag", name]:
            wrong = tag(name)
        case ["signers", path]:
            wrong = signers(Path(path))
        case ["key", path, trusted]:
            wrong = key(Path(path), Path(trusted))
        case ["check", folder, trusted]:
            wrong = check(Path(folder), Path(trusted))
        case _:
            wrong = [__doc__ or ""]
    for sentence in wrong:
        print(sentence, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
