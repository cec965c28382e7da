"""The packages of a lock file that the box needs, without those for another Python and those
without a wheel."""

from __future__ import annotations

import pytest

from image.freight import fitting
from image.plan import ROOT, NotBuilt
from image.wheels import SOURCES, requirement

LOCK = """# by hand
numpy==2.4.6 ; python_full_version < '3.12' \\
    --hash=sha256:aa \\
    --hash=sha256:ab
numpy==2.5.5 ; python_full_version >= '3.12' \\
    --hash=sha256:bb
pyalsaaudio==0.11.0 \\
    --hash=sha256:cc
rich==15.0.0 \\
    --hash=sha256:dd
tomli==2.0 ; platform_machine == 'x86_64' \\
    --hash=sha256:ee
"""


def test_the_python_of_the_box_determines_the_packages() -> None:
    assert fitting(LOCK).splitlines() == [
        "numpy==2.5.5 --hash=sha256:bb",
        "rich==15.0.0 --hash=sha256:dd",
    ]


def test_every_package_of_our_lock_is_either_fetched_or_built() -> None:
    text = fitting((ROOT / "requirements.lock").read_text())
    names = [line.partition("==")[0] for line in text.splitlines()]
    assert len(names) == len(set(names))
    assert not set(names) & set(SOURCES)
    assert all("--hash=sha256:" in line for line in text.splitlines())


@pytest.mark.parametrize("name", [*SOURCES, "llama-cpp-python"])
def test_a_package_built_from_source_is_pinned_by_its_hash(name: str) -> None:
    line = requirement(name)
    assert line.startswith(f"{name}==")
    assert "--hash=sha256:" in line
    assert line.count("==") == 1


def test_a_package_in_no_lock_is_an_error() -> None:
    with pytest.raises(NotBuilt, match="No lock names nothing-like-it"):
        requirement("nothing-like-it")
