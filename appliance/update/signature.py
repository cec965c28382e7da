"""Signs and verifies releases with SSH signatures, by Debian's ssh-keygen.

The box holds public keys only. Its file `allowed_signers` lists the trusted ones, one a line
(ssh-keygen(1), ALLOWED SIGNERS): `release@interlude namespaces="interlude-release" ssh-ed25519
AAAA…`. A comment `# least-signatures: 2` in it requires the signatures of two of these keys. A
signature file has one armoured block for each signature; ssh-keygen itself reads the first.
"""

from __future__ import annotations

import os
import pwd
import re
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from appliance.errors import ReleaseRefused, ShownAs

SIGNERS = Path("/etc/interlude/allowed_signers")
WHO = "release@interlude"
NAMESPACE = "interlude-release"
MOST_SIGNATURES = 4  # of one message; a file with more is refused
MOST_SIGNERS_BYTES = 65_536  # of the file of public keys; a line has 130
SIGN_S = 120.0  # a key on a token waits for a touch, one with a passphrase for its owner
VERIFY_S = 30.0
# Runs ssh-keygen on the signatures of strangers. A box has the first; a user of its own, since one
# that shares the other's processes could change the verdict. The system image makes it.
VERIFIERS = ("interlude-verify", "nobody")

_BLOCK = re.compile(
    rb"-----BEGIN SSH SIGNATURE-----\n[A-Za-z0-9+/=\n]*-----END SSH SIGNATURE-----\n?"
)
_KEY = re.compile(r"(?:^|\s)((?:sk-)?(?:ssh|ecdsa)-[a-z0-9@.-]+ AAAA[A-Za-z0-9+/]+=*)(?:\s|$)")
_LEAST = re.compile(r"^#\s*least-signatures:\s*([1-4])\s*$", re.MULTILINE)


class UntrustedSignature(ReleaseRefused):
    """ssh-keygen ran, and no trusted key, or too few of them, signed the message."""


def verify(message: bytes, signatures: bytes, signers: Path = SIGNERS) -> None:
    """Raise UntrustedSignature unless enough keys in the file `signers` signed `message`, and
    ReleaseRefused if that cannot be found out."""
    trusted = read_signers(signers)
    if trusted is None:
        problem = f"{signers} is missing: this box trusts no key for releases yet."
        raise ReleaseRefused(
            problem,
            "Put the public key of the releases into it.",
            shown=ShownAs.of("page-wrong-trusts-nobody"),
        )
    need, why = least_signatures(trusted), ""
    for block in blocks(signatures):
        if not (why := _refusal(message, block, trusted)) and need == 1:
            return
    if need > 1:
        signed = len(signing_keys(message, signatures, trusted))
        if signed >= need:
            return
        why = f"{need} of the keys have to sign, and {signed} did"
    problem = f"It is not signed with a key that this box trusts{f' ({why})' if why else ''}."
    raise UntrustedSignature(
        problem,
        f"The trusted keys are in {signers}.",
        shown=ShownAs.of("page-wrong-unsigned"),
    )


def signing_keys(
    message: bytes, signatures: bytes, signers: str, namespace: str = NAMESPACE
) -> set[str]:
    """The keys in the text `signers` that signed `message`, each as `public_keys` writes it."""
    found = set()
    for key in public_keys(signers):
        lines = "".join(f"{line}\n" for line in _rows(signers) if key in public_keys(line))
        if any(not _refusal(message, block, lines, namespace) for block in blocks(signatures)):
            found.add(key)
    return found


def public_keys(signers: str) -> tuple[str, ...]:
    """The different keys in a text of `allowed_signers`, each as its type and its base64."""
    keys = (match[1] for line in _rows(signers) for match in _KEY.finditer(line))
    return tuple(dict.fromkeys(keys))


def least_signatures(signers: str) -> int:
    """How many different keys have to sign, by the text of `allowed_signers`."""
    return max((int(number) for number in _LEAST.findall(signers)), default=1)


def signers_text(keys: Sequence[str], least: int = 1, namespace: str = NAMESPACE) -> str:
    """The text of `allowed_signers` for these public keys. The role `signers` writes the same."""
    head = f"# least-signatures: {least}\n" if least > 1 else ""
    return head + "".join(f'{WHO} namespaces="{namespace}" {key}\n' for key in keys)


def read_signers(signers: Path = SIGNERS) -> str | None:
    """The text of the file of trusted keys; None if there is no such file."""
    try:
        with signers.open("rb") as file:
            return file.read(MOST_SIGNERS_BYTES).decode("utf-8", errors="replace")
    except OSError:
        return None


def blocks(signatures: bytes) -> list[bytes]:
    """The signatures in a signature file; none if it has too many."""
    found = _BLOCK.findall(signatures)
    return found if len(found) <= MOST_SIGNATURES else []


def sign(message: bytes, key: Path, namespace: str = NAMESPACE) -> bytes:
    """Sign `message` with the private key in the file `key`, or with the key of an agent or a token
    whose public half it is. Raises ReleaseRefused."""
    done = _keygen("sign", namespace, "-f", str(key), "-q", stdin=message, limit_s=SIGN_S)
    if done.returncode or len(blocks(done.stdout)) != 1:
        output = done.stderr.decode(errors="replace").strip()
        raise ReleaseRefused(f"{key} cannot sign: {output}.")
    return done.stdout


def _rows(signers: str) -> list[str]:
    return [line for line in signers.splitlines() if line.strip() and line.lstrip()[0] != "#"]


def _refusal(message: bytes, block: bytes, signers: str, namespace: str = NAMESPACE) -> str:
    """Why `block` is not a signature of `message` by a key in the text `signers`; "" if it is."""
    with ExitStack() as stack:
        keys = stack.enter_context(_in_memory(signers.encode()))
        signed = stack.enter_context(_in_memory(block))
        words = ("-f", f"/proc/self/fd/{keys}", "-I", WHO, "-s", f"/proc/self/fd/{signed}")
        done = _keygen(
            "verify", namespace, *words, stdin=message, limit_s=VERIFY_S, fds=(keys, signed)
        )
    if not done.returncode:
        return ""
    output = (done.stderr or done.stdout).decode(errors="replace").strip().splitlines()
    return f"ssh-keygen: {output[-1].strip()}" if output else f"exit code {done.returncode}"


@contextmanager
def _in_memory(data: bytes) -> Iterator[int]:
    """A file in memory, which another user can open by its number, and under no name."""
    fd = os.memfd_create("interlude")
    try:
        os.write(fd, data)
        yield fd
    finally:
        os.close(fd)


def _keygen(
    what: str, namespace: str, *words: str, stdin: bytes, limit_s: float, fds: tuple[int, ...] = ()
) -> subprocess.CompletedProcess[bytes]:
    """Run ssh-keygen; verifications by root run as another user. Raises ReleaseRefused."""
    command = ["ssh-keygen", "-Y", what, "-n", namespace, *words]

    def run(user: pwd.struct_passwd | None) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            command,
            input=stdin,
            capture_output=True,
            check=False,
            timeout=limit_s,
            pass_fds=fds,
            cwd="/" if user else None,
            env={"PATH": os.environ.get("PATH", os.defpath)} if user else None,
            user=user.pw_uid if user else None,
            group=user.pw_gid if user else None,
            extra_groups=[] if user else None,
        )

    try:
        try:
            return run(_verifier() if what == "verify" else None)
        except PermissionError:  # a unit of an older system, whose root may not change its user
            return run(None)
    except subprocess.TimeoutExpired as error:
        raise ReleaseRefused(f"ssh-keygen did not finish within {limit_s:g} s.") from error
    except FileNotFoundError as error:
        problem = "ssh-keygen is missing, which checks signatures."
        raise ReleaseRefused(problem, "Install the package openssh-client.") from error


def _verifier() -> pwd.struct_passwd | None:
    """The user that verifies; None if this process is not root's, or there is no such user."""
    if os.geteuid() != 0:
        return None
    for name in VERIFIERS:
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    return None
