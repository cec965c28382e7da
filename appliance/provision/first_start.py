"""Runs at each boot of a card: creates the ssh host keys, and applies the owner's seed once.

In: the partition `bootconfig`, which every computer can read. Out: files (see seed_files.py). After
all of them are synced, the seed is wiped off the partition. An invalid seed is reported and stays
there, so that its owner can correct it.
"""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from appliance.errors import SeedRefused, StorageError
from appliance.provision import seed_parsers
from appliance.provision.apply_seed import ProvisionTarget, apply, forget_unconfirmed
from appliance.update.system.block_device import PartitionedDisk
from appliance.update.system.fat32 import FatFileSystem
from appliance.update.system.slot import CONFIG

KEYS = Path("etc/ssh")
# Names that editors and browsers produce where file extensions are hidden: interlude.yaml.txt.
_NEARLY = re.compile(r"interlude[ a-z0-9()_-]{0,20}(\.(ya?ml|txt|rtf)){1,2}")


@dataclass(frozen=True)
class ProvisionResult:
    """Result of a boot: the paths that the seed wrote, and its problem in a sentence.

    `misnamed`: a file that is not read, but was probably meant as a seed.
    """

    seeded: tuple[str, ...] = ()
    problem: str = ""
    misnamed: str = ""


def provision(card: PartitionedDisk, target: ProvisionTarget) -> ProvisionResult:
    """Do all the work of a boot. Raises StorageError. An invalid seed does not prevent the boot,
    and stays on the card."""
    host_keys(target)
    files, similar = carried(card), misnamed(card)
    try:
        seed = seed_parsers.parse_seed(files)
        if seed.empty:
            return ProvisionResult(misnamed=similar)
        written = apply(seed, target)
        if seed.wifi is not None:
            forget_unconfirmed(target)
    except (SeedRefused, StorageError) as error:  # StorageError: a full disk, for example
        return ProvisionResult(problem=str(error), misnamed=similar)
    wipe(card)
    return ProvisionResult(tuple(written), misnamed=similar)


def carried(card: PartitionedDisk) -> dict[str, bytes]:
    """The seed's files on the card, by name."""
    with card.part(CONFIG) as config:
        fat = FatFileSystem(config)
        sizes = {file.name.lower(): file.size for file in fat.files()}
        contents = {}
        for name in seed_parsers.FORMS:
            if sizes.get(name, 0) > seed_parsers.MOST_BYTES:  # parse_seed refuses it by its length
                contents[name] = b"?" * (seed_parsers.MOST_BYTES + 1)
            elif name in sizes:
                contents[name] = fat.read(name) or b""
        return contents


def misnamed(card: PartitionedDisk) -> str:
    """The first file on the card with a name similar to a seed's; "" if there is none."""
    with card.part(CONFIG) as config:
        names = sorted(file.name for file in FatFileSystem(config).files())
    unread = (name for name in names if name.lower() not in seed_parsers.FORMS)
    return next((name for name in unread if _is_similar(name.lower())), "")


def _is_similar(name: str) -> bool:
    return name in seed_parsers.FOREIGN or _NEARLY.fullmatch(name) is not None


def wipe(card: PartitionedDisk) -> None:
    """Overwrite and remove the seed's files, and overwrite the free clusters: passwords are in the
    files, and in older copies that an editor left."""
    with card.part(CONFIG) as config:
        fat = FatFileSystem(config)
        fat.wipe_free()
        for name in (*seed_parsers.FORMS, *seed_parsers.BESIDE):
            fat.wipe(name)


def host_keys(target: ProvisionTarget) -> None:
    """Create the box's ssh host keys at the first boot, and install the same keys at later ones.

    A key that is unreadable, for example empty after a power cut, is replaced. Raises StorageError.
    """
    folder = target.keep / KEYS
    target.disk.make_folder(folder)
    for private in folder.glob("ssh_host_*_key"):
        if _keygen("-y", "-P", "", "-f", str(private)).returncode:
            target.disk.remove(private)
            target.disk.remove(private.with_name(private.name + ".pub"))
    made = _keygen("-A", "-f", str(target.keep))
    if made.returncode:
        raise StorageError(f"No keys could be made for ssh: {made.stderr.strip()}.")
    target.disk.sync(folder)
    running = target.root / KEYS
    target.disk.make_folder(running)
    for key in sorted(folder.glob("ssh_host_*")):
        public = key.suffix == ".pub"
        target.disk.write(running / key.name, key.read_bytes(), 0o644 if public else 0o600)


def _keygen(*words: str) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            ["ssh-keygen", *words],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=120,
        )  # fmt: skip
    except OSError as error:
        raise StorageError("ssh-keygen is missing.", "Install openssh-client.") from error
