"""An authority of the test's own, made by openssl(1)."""

from __future__ import annotations

import subprocess
from pathlib import Path


class Authority:
    """`certificate`: its own, which whoever trusts it is given."""

    def __init__(self, folder: Path, name: str = "test authority") -> None:
        self._folder = folder / name.replace(" ", "-")
        self._folder.mkdir(parents=True)
        self.certificate = self._folder / "ca.pem"
        self._key = self._folder / "ca.key"
        _openssl(
            "req", "-x509", *_NEW_KEY, "-keyout", self._key, "-out", self.certificate,
            "-subj", f"/CN={name}", "-days", "2",
            "-addext", "keyUsage=critical,keyCertSign,cRLSign",  # Python 3.13 insists
        )  # fmt: skip

    def issue(self, name: str) -> tuple[Path, Path]:
        """A certificate for `name`, and its key of mode 0600."""
        certificate, key = self._folder / f"{name}.pem", self._folder / f"{name}.key"
        request, more = self._folder / f"{name}.csr", self._folder / f"{name}.ext"
        more.write_text(
            f"subjectAltName=DNS:{name}\nkeyUsage=critical,digitalSignature\n"
            "authorityKeyIdentifier=keyid\nsubjectKeyIdentifier=hash\n"
        )
        _openssl("req", *_NEW_KEY, "-keyout", key, "-out", request, "-subj", f"/CN={name}")
        _openssl(
            "x509", "-req", "-in", request, "-CA", self.certificate, "-CAkey", self._key,
            "-CAcreateserial", "-out", certificate, "-days", "2", "-extfile", more,
        )  # fmt: skip
        key.chmod(0o600)
        return certificate, key


_NEW_KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")


def _openssl(*words: str | Path) -> None:
    subprocess.run(["openssl", *map(str, words)], check=True, capture_output=True)
