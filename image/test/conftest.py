"""The card that the tests of this folder start: built from this tree, signed by nobody's key."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from image.plan import ROOT


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        item.add_marker(pytest.mark.process)  # a tier for itself: boxes, cards and guests


@pytest.fixture(scope="session")
def signing_key(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A private ssh key; kept, so that what was built with it is not built anew."""
    folder = ROOT / "build/test-image"
    folder.mkdir(parents=True, exist_ok=True)
    key = folder / "key"
    if not key.exists():
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "of nobody's",
                        "-f", key], check=True)  # fmt: skip
    return key


@pytest.fixture(scope="session")
def built(signing_key: Path) -> Path:
    """The image as `make image` builds it; INTERLUDE_IMAGE names one that is built already."""
    if named := os.environ.get("INTERLUDE_IMAGE"):
        return Path(named)
    work = ROOT / "build/test-image"
    subprocess.run(
        [sys.executable, "-m", "image.build", "--key", signing_key, "--work", work / "work",
         "--into", work / "dist"],
        cwd=ROOT, check=True,
    )  # fmt: skip
    return next((work / "work").glob("interlude-*-rpi5.img"))


@pytest.fixture(scope="session")
def door(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An ssh key that a test leaves on a card to come in by."""
    key = tmp_path_factory.mktemp("door") / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
    return key


@pytest.fixture(scope="session")
def image_scratch() -> Iterator[Path]:
    """Room for copies of the card: gigabytes, so not in /tmp, which is memory on Debian 13."""
    folder = ROOT / f"build/test-image/run-{os.getpid()}"
    folder.mkdir(parents=True)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)
