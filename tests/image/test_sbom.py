"""The bill of materials names everything that is installed and nothing else."""

from __future__ import annotations

import json
from pathlib import Path

from image.sbom import Row, document, rows

STATUS = """Package: udev
Status: install ok installed
Version: 257.13-1~deb13u1

Package: gone
Status: deinstall ok config-files
Version: 1

Package: python3
Status: install ok installed
Version: 3.13.5-1
"""


def test_packages_of_debian_the_kernel_and_python_are_listed(tmp_path: Path) -> None:
    root, kernel = tmp_path / "root", tmp_path / "kernel"
    (root / "var/lib/dpkg").mkdir(parents=True)
    (root / "var/lib/dpkg/status").write_text(STATUS)
    about = root / "opt/interlude/releases/0.1.0/lib/rich-15.0.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: rich\nVersion: 15.0.0\n\nLong.\n")
    kernel.mkdir()
    (kernel / "packages.tsv").write_text("linux-image-arm64\t7.2.12-1~bpo13+1\n")
    assert rows(root, kernel) == [
        Row("deb", "linux-image-arm64", "7.2.12-1~bpo13+1"),
        Row("deb", "python3", "3.13.5-1"),
        Row("deb", "udev", "257.13-1~deb13u1"),
        Row("pypi", "rich", "15.0.0"),
    ]


def test_the_document_is_reproducible() -> None:
    parts = [Row("deb", "busybox-static", "1:1.37.0-6+b9"), Row("pypi", "PyYAML", "6.0.3")]
    text = document(parts, "0.1.0", 1_780_000_000)
    assert text == document(parts, "0.1.0", 1_780_000_000)
    bill = json.loads(text)
    assert bill["metadata"]["timestamp"] == "2026-05-28T20:26:40Z"
    assert [part["purl"] for part in bill["components"]] == [
        "pkg:deb/debian/busybox-static@1%3A1.37.0-6%2Bb9?arch=arm64&distro=trixie",
        "pkg:pypi/pyyaml@6.0.3",
    ]
