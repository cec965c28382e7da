"""Of a lock, what the box needs: another Python's lines and what has no wheel are left out."""

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


def test_the_boxs_python_chooses_not_this_machines() -> None:
    assert fitting(LOCK).splitlines() == [
        "numpy==2.5.5 --hash=sha256:bb",
        "rich==15.0.0 --hash=sha256:dd",
    ]


def test_every_line_of_our_own_lock_is_either_fetched_or_built() -> None:
    text = fitting((ROOT / "requirements.lock").read_text())
    names = [line.partition("==")[0] for line in text.splitlines()]
    assert len(names) == len(set(names))
    assert not set(names) & set(SOURCES)
    assert all("--hash=sha256:" in line for line in text.splitlines())


@pytest.mark.parametrize("name", [*SOURCES, "llama-cpp-python"])
def test_what_is_built_from_source_is_pinned_by_its_hash(name: str) -> None:
    said = requirement(name)
    assert said.startswith(f"{name}==")
    assert "--hash=sha256:" in said
    assert said.count("==") == 1


def test_what_no_lock_names_is_said_so() -> None:
    with pytest.raises(NotBuilt, match="No lock names nothing-like-it"):
        requirement("nothing-like-it")
