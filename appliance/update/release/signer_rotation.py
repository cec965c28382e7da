"""Changes the keys whose releases the box installs, as the kept release asks.

In: policy/signers.json in the release's tree, the new list of keys, with its signatures beside it.
Out: the file of trusted keys. The release's own signature counts for nothing here. The list needs

- the signatures of two keys that the box trusts so far, or of the one if it trusts one only: so of
  two keys a stolen one cannot replace the other;
- the signature of each key that is new: so a list with a mistyped key locks nobody out;
- a number above that of the last change: so an old list does not bring back a key.

The signatures are in a name space of their own: what signs releases cannot be made to sign a list.
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Annotated

import msgspec

from appliance.atomic_file import write_whole
from appliance.errors import ReleaseRefused
from appliance.record_file import MOST_BYTES, UNREADABLE
from appliance.update import signature
from appliance.update.release import security_record
from appliance.update.release.policy import FOLDER
from appliance.update.release.store import ReleaseStore

NAME = f"{FOLDER}/signers.json"
SIGNATURES = f"{NAME}.sig"
NAMESPACE = "interlude-signers"
MOST_OLD = 2  # signatures of trusted keys that a change needs at most

PublicKey = Annotated[
    str, msgspec.Meta(pattern=r"^(sk-)?(ssh|ecdsa)-[a-z0-9@.-]+ AAAA[A-Za-z0-9+/]+=*( [!-~]+)*$")
]

log = logging.getLogger("release")


class SignerList(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A list of keys.

    number  above that of the list before
    keys    all public keys that are trusted from now on, as in a .pub
    least   how many of them have to sign a release
    """

    number: Annotated[int, msgspec.Meta(ge=1, le=1_000_000)]
    keys: Annotated[tuple[PublicKey, ...], msgspec.Meta(min_length=1, max_length=8)]
    least: Annotated[int, msgspec.Meta(ge=1, le=signature.MOST_SIGNATURES)] = 1

    @property
    def text(self) -> str:
        """The content of `allowed_signers`."""
        return signature.signers_text(self.keys, self.least)


def parse(data: bytes) -> SignerList:
    """The list in `data`. Raises ReleaseRefused."""
    try:
        found = msgspec.json.decode(data, type=SignerList)
    except UNREADABLE as error:
        raise ReleaseRefused(f"Its {NAME} cannot be used: {error}.") from error
    if found.least > len(signature.public_keys(found.text)):
        raise ReleaseRefused(f"Its {NAME} wants more signatures than it has keys.")
    return found


def read(folder: Path) -> tuple[SignerList, bytes, bytes] | None:
    """The list of an unpacked release, its bytes and its signatures; None if it has none.

    Raises ReleaseRefused for one that cannot be used."""
    try:
        data, signatures = ((folder / name).read_bytes() for name in (NAME, SIGNATURES))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ReleaseRefused(f"Its {NAME} cannot be read ({error.strerror}).") from error
    return parse(data[:MOST_BYTES]), data, signatures


def check(listed: SignerList, data: bytes, signatures: bytes, trusted: str) -> None:
    """Raise ReleaseRefused unless enough keys signed the list. `trusted`: the text of the file of
    keys that the box trusts so far."""
    old, new = (set(signature.public_keys(text)) for text in (trusted, listed.text))
    every = signature.signers_text(sorted(old | new), namespace=NAMESPACE)
    signed = signature.signing_keys(data, signatures, every, NAMESPACE)
    need = max(signature.least_signatures(trusted), min(MOST_OLD, len(old)))
    if not old or len(signed & old) < need:
        signs = f"is signed by {len(signed & old)} of the trusted keys, not by {need}"
        raise ReleaseRefused(f"The new list of keys {signs}.")
    if not new - old <= signed:
        raise ReleaseRefused("A new key did not sign the new list of keys.")


def change_signers(store: ReleaseStore, signers: Path) -> bool:
    """Replace the file `signers` as the kept release asks. Returns whether it changed.

    Called with the lock held, and only for a release that was kept. A list that is refused, or that
    cannot be written yet (the unit of an older system sees the file read-only), is logged, and
    looked at again at the next installation.
    """
    kept, trusted = store.kept(), signature.read_signers(signers)
    try:
        found = read(store.folder(kept)) if kept else None
        if found is None or trusted is None:
            return False
        listed, data, signatures = found
        record = store.security()
        if listed.number <= record.signers:
            return False
        changed = listed.text != trusted
        if changed:
            check(listed, data, signatures, trusted)
            write_whole(signers, listed.text.encode())
        record = msgspec.structs.replace(record, signers=listed.number)
        security_record.write(store.root, record, store.disk)
    except (ReleaseRefused, OSError) as error:
        log.warning("the trusted keys are not changed as release %s asks: %s", kept, error)
        return False
    if changed:
        log.info("the trusted keys are those of release %s now", kept)
    return changed
