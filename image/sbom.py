"""Writes the SBOM of an image, as CycloneDX 1.5: packages of Debian, of the kernel and of Python.

The rows come from dpkg's status file, the kernel's packages.tsv and the metadata of each wheel.
"""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from email.parser import HeaderParser
from pathlib import Path

from image.plan import DEBIAN, SUITE


@dataclass(frozen=True, order=True)
class Row:
    """One component. `kind`: deb or pypi, the type in its package URL."""

    kind: str
    name: str
    version: str

    @property
    def url(self) -> str:
        """Its package URL (github.com/package-url/purl-spec)."""
        version = self.version.replace(":", "%3A").replace("+", "%2B")
        if self.kind == "deb":
            return f"pkg:deb/debian/{self.name}@{version}?arch={DEBIAN}&distro={SUITE}"
        return f"pkg:pypi/{self.name.lower().replace('_', '-')}@{version}"


def rows(root: Path, kernel: Path) -> list[Row]:
    """All components, sorted."""
    found = set(_debian((root / "var/lib/dpkg/status").read_text()))
    for line in (kernel / "packages.tsv").read_text().splitlines():
        name, version = line.split("\t")
        found.add(Row("deb", name, version))
    for file in root.glob("opt/interlude/*/*/lib/*.dist-info/METADATA"):  # of releases and voices
        metadata = HeaderParser().parsestr(file.read_text(errors="replace"))
        found.add(Row("pypi", metadata["Name"], metadata["Version"]))
    return sorted(found)


def document(parts: Iterable[Row], version: str, time_s: int) -> str:
    """The SBOM as JSON."""
    made = dt.datetime.fromtimestamp(time_s, dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return json.dumps(
        {
            "bomFormat": "CycloneDX",
            "specVersion": "1.5",
            "version": 1,
            "metadata": {
                "timestamp": made,
                "component": {"type": "firmware", "name": "interlude", "version": version},
            },
            "components": [
                {
                    "type": "library",
                    "bom-ref": part.url,
                    "name": part.name,
                    "version": part.version,
                    "purl": part.url,
                }
                for part in parts
            ],
        },
        indent=1,
    )


def _debian(status: str) -> Iterable[Row]:
    for entry in status.split("\n\n"):
        fields = dict(re.findall(r"^(Package|Version|Status): (.*)$", entry, re.MULTILINE))
        if fields.get("Status", "").endswith(" installed"):
            yield Row("deb", fields["Package"], fields["Version"])
