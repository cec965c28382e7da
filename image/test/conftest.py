"""Fixtures of this folder: the card, built from this tree and signed with a test key."""

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
        item.add_marker(pytest.mark.process)  # every test here starts programs


@pytest.fixture(scope="session")
def signing_key(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A private ssh key. It is kept between runs, so that the image is not built again."""
    folder = ROOT / "build/test-image"
    folder.mkdir(parents=True, exist_ok=True)
    key = folder / "key"
    if not key.exists():
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "of nobody's",
                        "-f", key], check=True)  # fmt: skip
    return key


@pytest.fixture(scope="session")
def built(signing_key: Path) -> Path:
    """The image as `make image` builds it, or the existing one that INTERLUDE_IMAGE names."""
    if named := os.environ.get("INTERLUDE_IMAGE"):
        return Path(named)
    work = ROOT / "build/test-image"
    subprocess.run(
        [sys.executable, "-m", "image.build", "--signers", signing_key.with_suffix(".pub"),
         "--work", work / "work", "--into", work / "dist"],
        cwd=ROOT, check=True,
    )  # fmt: skip
    return next((work / "work").glob("interlude-*-rpi5.img"))


@pytest.fixture(scope="session")
def door(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The private ssh key of the owner; tests put its public half on a card to log in with it."""
    key = tmp_path_factory.mktemp("door") / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
    return key


@pytest.fixture(scope="session")
def image_scratch() -> Iterator[Path]:
    """A folder for copies of the card. They are gigabytes, and /tmp is in memory on Debian 13."""
    folder = ROOT / f"build/test-image/run-{os.getpid()}"
    folder.mkdir(parents=True)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)
