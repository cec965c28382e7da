"""A certificate authority for tests, made by openssl(1)."""

from __future__ import annotations

import subprocess
from pathlib import Path


class Authority:
    """`certificate`: its own certificate, the trust anchor."""

    def __init__(self, folder: Path, name: str = "test authority") -> None:
        self._folder = folder / name.replace(" ", "-")
        self._folder.mkdir(parents=True)
        self.certificate = self._folder / "ca.pem"
        self._key = self._folder / "ca.key"
        _openssl(
            "req", "-x509", *_NEW_KEY, "-keyout", self._key, "-out", self.certificate,
            "-subj", f"/CN={name}", "-days", "2",
            "-addext", "keyUsage=critical,keyCertSign,cRLSign",  # Python 3.13 requires it
        )  # fmt: skip

    def issue(
        self, name: str, *, days: int = 2, begins: str = "", usage: str = ""
    ) -> tuple[Path, Path]:
        """A certificate for `name`, and its key of mode 0600. `days`: from now on, or from
        `begins` (YYYYMMDD…Z). `usage`: its extendedKeyUsage."""
        certificate, key = self._folder / f"{name}.pem", self._folder / f"{name}.key"
        request, more = self._folder / f"{name}.csr", self._folder / f"{name}.ext"
        more.write_text(
            f"subjectAltName=DNS:{name}\nkeyUsage=critical,digitalSignature\n"
            "authorityKeyIdentifier=keyid\nsubjectKeyIdentifier=hash\n"
            + (f"extendedKeyUsage={usage}\n" if usage else "")
        )
        _openssl("req", *_NEW_KEY, "-keyout", key, "-out", request, "-subj", f"/CN={name}")
        if begins:
            self._issue_later(request, certificate, more, begins)
        else:
            _openssl(
                "x509", "-req", "-in", request, "-CA", self.certificate, "-CAkey", self._key,
                "-CAcreateserial", "-out", certificate, "-days", days, "-extfile", more,
            )  # fmt: skip
        key.chmod(0o600)
        return certificate, key

    def self_signed(self, name: str) -> tuple[Path, Path]:
        """A self-signed certificate for `name`, and its key of mode 0600."""
        certificate, key = self._folder / "own.pem", self._folder / "own.key"
        _openssl(
            "req", "-x509", *_NEW_KEY, "-keyout", key, "-out", certificate, "-subj", f"/CN={name}",
            "-days", "2", "-addext", f"subjectAltName=DNS:{name}",
        )  # fmt: skip
        key.chmod(0o600)
        return certificate, key

    def _issue_later(self, request: Path, certificate: Path, more: Path, begins: str) -> None:
        """Use openssl-ca(1): `openssl x509` of OpenSSL 3.0 has no option for the start date."""
        for name, text in (("index", ""), ("serial", "01\n")):
            (self._folder / name).write_text(text)
        rules = self._folder / "ca.cnf"
        rules.write_text(
            f"[ca]\ndefault_ca=own\n[own]\ndatabase={self._folder}/index\n"
            f"serial={self._folder}/serial\nnew_certs_dir={self._folder}\ndefault_md=sha256\n"
            "policy=any\n[any]\ncommonName=supplied\n"
        )
        _openssl(
            "ca", "-batch", "-notext", "-config", rules, "-cert", self.certificate, "-keyfile",
            self._key, "-in", request, "-out", certificate, "-extfile", more,
            "-startdate", begins, "-days", 2,
        )  # fmt: skip


_NEW_KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")


def _openssl(*words: str | int | Path) -> None:
    subprocess.run(["openssl", *map(str, words)], check=True, capture_output=True)
