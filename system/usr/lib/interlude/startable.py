#!/usr/bin/python3 -I
"""startable.py CURRENT: prints the releases that may be started, CURRENT among them in any case.

In: the releases on the card, the floor that a security update set, the keys that the box trusts.
Out: the complete releases, one a line, without those below the floor and without those whose key is
no longer trusted. A release passes if that cannot be found out: one that came with the card, or
that an earlier version installed, has no signature, and a machine may trust no key yet.

fallback.py runs it as root, with the system's own Python; it imports nothing of a release.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

Numbers = tuple[()] | tuple[int, int, int, str, int]

# appliance/update/signed_manifest.py, signature.py and release/security_record.py have the same.
NUMBERS = re.compile(r"(\d{1,6})\.(\d{1,6})\.(\d{1,6})(?:(a|b|rc)(\d{1,6}))?")
SIGNATURE = re.compile(
    rb"-----BEGIN SSH SIGNATURE-----\n[A-Za-z0-9+/=\n]*-----END SSH SIGNATURE-----\n?"
)
LEAST = re.compile(rb"^#\s*least-signatures:\s*([1-4])\s*$", re.MULTILINE)
FINGERPRINT = re.compile(rb"SHA256:[A-Za-z0-9+/]{43}")
UNKNOWN = b"unknown"  # without ssh-keygen
WHO, NAMESPACE = "release@interlude", "interlude-release"
FLOOR = "security.json"
VERIFY_S = 30.0


@dataclass(frozen=True)
class Box:
    """Paths; a test uses its own."""

    root: Path = Path("/opt/interlude")
    signers: Path = Path("/etc/interlude/allowed_signers")

    def startable(self, current: str) -> list[str]:
        floor = self.floor()
        found = sorted((self.root / "releases").glob("[A-Za-z0-9]*/release.json"))
        folders = [path.parent for path in found]
        return [
            folder.name
            for folder in folders
            if os.access(folder / "bin/interlude", os.X_OK)
            and (
                folder.name == current
                or (numbers(folder.name) >= floor and self.is_trusted(folder))
            )
        ]

    def floor(self) -> Numbers:
        """The oldest version that may be started; () if no release has set one."""
        try:
            said = json.loads((self.root / FLOOR).read_bytes())["least_version"]
        except (OSError, ValueError, TypeError, KeyError):
            return ()
        return numbers(str(said))

    def is_trusted(self, release: Path) -> bool:
        """Whether enough trusted keys signed the release, or that cannot be found out."""
        try:
            manifest = (release / "release.json").read_bytes()
            signatures = SIGNATURE.findall((release / "release.json.sig").read_bytes())
        except OSError:
            return True
        try:
            least = LEAST.findall(self.signers.read_bytes())
        except OSError:
            return True
        keys = {self.signing_key(manifest, signature) for signature in signatures} - {None}
        return UNKNOWN in keys or len(keys) >= max((int(number) for number in least), default=1)

    def signing_key(self, manifest: bytes, signature: bytes) -> bytes | None:
        """The fingerprint of the trusted key that made the signature; None: no trusted key did.
        By ssh-keygen, as root: what it parses here, root's installer has verified before."""
        fd = os.memfd_create("signature")
        try:
            os.write(fd, signature)
            done = subprocess.run(
                ["ssh-keygen", "-Y", "verify", "-f", self.signers, "-I", WHO, "-n", NAMESPACE,
                 "-s", f"/proc/self/fd/{fd}"],
                input=manifest, capture_output=True, check=False, timeout=VERIFY_S, pass_fds=(fd,),
            )  # fmt: skip
        except FileNotFoundError:
            return UNKNOWN
        except subprocess.TimeoutExpired:
            return None
        finally:
            os.close(fd)
        found = FINGERPRINT.search(done.stdout)
        return found[0] if done.returncode == 0 and found else None


def numbers(version: str) -> Numbers:
    """The sort key of a version; () for something else, which is older than any."""
    found = NUMBERS.fullmatch(version)
    if found is None:
        return ()
    major, minor, patch, kind, number = found.groups()
    return int(major), int(minor), int(patch), kind or "~", int(number or 0)


def main(current: str) -> int:
    root = Path(os.environ.get("INTERLUDE_ROOT", Box.root))
    signers = Path(os.environ.get("INTERLUDE_SIGNERS", Box.signers))
    for version in Box(root, signers).startable(current):
        print(version)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
