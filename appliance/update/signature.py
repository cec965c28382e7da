"""Signs and verifies releases with SSH signatures, by Debian's ssh-keygen.

The box holds public keys only. Its file `allowed_signers` lists the trusted ones, one a line
(ssh-keygen(1), ALLOWED SIGNERS): `release@interlude namespaces="interlude-release" ssh-ed25519
AAAA…`. To rotate a key, add the new one, update the fleet, remove the old one.
"""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

from appliance.errors import ReleaseRefused, ShownAs

SIGNERS = Path("/etc/interlude/allowed_signers")
WHO = "release@interlude"
NAMESPACE = "interlude-release"


def verify(message: bytes, signature: bytes, signers: Path = SIGNERS) -> None:
    """Raise ReleaseRefused unless a key in the file `signers` signed `message`."""
    if not signers.is_file():
        problem = f"{signers} is missing: this box trusts no key for releases yet."
        raise ReleaseRefused(
            problem,
            "Put the public key of the releases into it.",
            shown=ShownAs.of("page-wrong-trusts-nobody"),
        )
    with tempfile.NamedTemporaryFile(prefix="interlude-", suffix=".sig") as file:
        file.write(signature)
        file.flush()
        done = _keygen("verify", "-f", signers, "-I", WHO, "-s", file.name, stdin=message)
    if done.returncode:
        output = (done.stderr or done.stdout).decode(errors="replace").strip().splitlines()
        why = f" (ssh-keygen: {output[-1].strip()})" if output else ""
        problem = f"It is not signed with a key that this box trusts{why}."
        raise ReleaseRefused(
            problem,
            f"The trusted keys are in {signers}.",
            shown=ShownAs.of("page-wrong-unsigned"),
        )


def sign(message: bytes, key: Path) -> bytes:
    """Sign `message` with the private key in the file `key`. Raises ReleaseRefused."""
    with tempfile.TemporaryDirectory(prefix="interlude-") as folder:
        file = Path(folder) / "message"
        file.write_bytes(message)
        done = _keygen("sign", "-f", key, "-q", file)
        if done.returncode:
            output = done.stderr.decode(errors="replace").strip()
            raise ReleaseRefused(f"{key} cannot sign: {output}.")
        return file.with_suffix(".sig").read_bytes()


def _keygen(
    what: str, *words: str | Path, stdin: bytes | None = None
) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(
            ["ssh-keygen", "-Y", what, "-n", NAMESPACE, *words],
            input=stdin,
            stdin=subprocess.DEVNULL if stdin is None else None,
            capture_output=True,
            check=False,
            timeout=30,
        )
    except subprocess.TimeoutExpired as error:
        raise ReleaseRefused("ssh-keygen did not finish within 30 s.") from error
    except FileNotFoundError as error:
        problem = "ssh-keygen is missing, which checks signatures."
        raise ReleaseRefused(problem, "Install the package openssh-client.") from error
