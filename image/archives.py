"""Runs apt for the Pi's architecture with a configuration and package lists of its own.

In: the URIs of this machine's own sources, or INTERLUDE_DEBIAN and INTERLUDE_DEBIAN_SECURITY.
The configuration and state of this machine's apt are not changed.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path

from image.plan import DEBIAN, SUITE, NotBuilt
from image.tools import ask, quietly

KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
_REMEDY = "Is the archive reachable, and does it have Debian 13? INTERLUDE_DEBIAN=… names another."


def sources(suites: Iterable[str] = ()) -> list[str]:
    """Lines for sources.list: Debian 13, its updates and `suites`. Raises NotBuilt."""
    main, security = _uris()
    signed = f"[arch={DEBIAN} signed-by={KEYRING}]"
    parts = "main non-free-firmware"  # the firmware of the Pi's Wi-Fi
    found = [
        f"deb {signed} {main} {suite} {parts}" for suite in (SUITE, f"{SUITE}-updates", *suites)
    ]
    if security:
        found.append(f"deb {signed} {security} {SUITE}-security {parts}")
    return found


def _uris() -> tuple[str, str]:
    """URIs of Debian's archive and of its security archive ("" if none is configured)."""
    main = os.environ.get("INTERLUDE_DEBIAN", "")
    security = os.environ.get("INTERLUDE_DEBIAN_SECURITY", "")
    fields = "$(REPO_URI) $(ORIGIN) $(SUITE) $(LABEL)"
    output = ask(
        "apt cannot be queried",
        "apt-get",
        "indextargets",
        "--format",
        fields,
        "Created-By: Packages",
    )
    for line in output.splitlines():
        uri, *rest = line.split(maxsplit=1)
        labels = rest[0] if rest else ""
        if labels.startswith("Debian ") and "Backports" not in labels:
            if "Security" in labels:
                security = security or uri
            else:
                main = main or uri
    if not main:
        raise NotBuilt("No archive of Debian's is configured here.", "Name one: INTERLUDE_DEBIAN=…")
    return main, security


class Archives:
    """apt with the sources `lines` only; its configuration and lists are in `folder`."""

    def __init__(self, folder: Path, lines: Sequence[str], logs: Path) -> None:
        self._logs = logs
        for part in ("lists/partial", "cache/archives/partial"):
            (folder / part).mkdir(parents=True, exist_ok=True)
        (folder / "sources.list").write_text("".join(f"{line}\n" for line in lines))
        config = folder / "apt.conf"
        config.write_text(
            f'APT::Architecture "{DEBIAN}"; APT::Architectures {{ "{DEBIAN}"; }};\n'
            f'Dir::State::lists "{folder}/lists"; Dir::State::status "/dev/null";\n'
            f'Dir::Cache "{folder}/cache"; Dir::Etc::sourceparts "-";\n'
            f'Dir::Etc::sourcelist "{folder}/sources.list"; APT::Sandbox::User "root";\n'
        )
        self._environment = {"APT_CONFIG": str(config)}

    def refresh(self) -> None:
        """Download the package lists (`apt-get update`). Raises NotBuilt."""
        quietly("The archive's lists cannot be read", _REMEDY, self._logs / "apt.log",
                "apt-get", "--error-on=any", "update", environment=self._environment)  # fmt: skip

    def version(self, package: str, suite: str = SUITE) -> str:
        """The newest version of `package` in `suite`. Raises NotBuilt."""
        output = ask(f"{package} is unknown", "apt-cache", f"--option=APT::Default-Release={suite}",
                     "policy", package, environment=self._environment)  # fmt: skip
        for line in output.splitlines():
            key, _, value = line.strip().partition(": ")
            if key == "Candidate" and value != "(none)":
                return value
        raise NotBuilt(f"The archive has no {package}.", _REMEDY)

    def depends(self, package: str, version: str) -> list[tuple[str, str]]:
        """The dependencies that name an exact version: (package, version).

        These are the packages that are built from the same source.
        """
        record = ask(f"{package} is unknown", "apt-cache", "show", f"{package}={version}",
                     environment=self._environment)  # fmt: skip
        line = next((row for row in record.splitlines() if row.startswith("Depends: ")), "")
        found = []
        for dependency in line.removeprefix("Depends: ").split(", "):
            name, _, version_ = dependency.partition(" (= ")
            if version_:
                found.append((name, version_.rstrip(")")))
        return found

    def unpack(self, packages: Iterable[str], into: Path, scratch: Path) -> None:
        """Download `packages` (name or name=version) and unpack their files. Raises NotBuilt."""
        scratch.mkdir(parents=True, exist_ok=True)
        into.mkdir(parents=True, exist_ok=True)
        for package in packages:
            done = subprocess.run(
                ["apt-get", "-qq", "download", package], cwd=scratch, capture_output=True,
                text=True, check=False, env={**os.environ, **self._environment},
            )  # fmt: skip
            if done.returncode:
                raise NotBuilt(f"{package} cannot be downloaded: {done.stderr.strip()}", _REMEDY)
        for file in sorted(scratch.glob("*.deb")):
            ask(f"{file.name} cannot be unpacked", "dpkg-deb", "--extract", file, into)
            file.unlink()
