"""What the roles are taken from is the same for whoever cloned this."""

from __future__ import annotations

from pathlib import Path

import pytest

from image.roles import sources


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """As git leaves it to somebody with a umask of 077."""
    folder = tmp_path / "clone"
    for name in ("ansible/site.yml", "system/etc/one", "system/bin/two", "image/packages.txt"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        (folder / name).write_text(name)
        (folder / name).chmod(0o700 if name.endswith("two") else 0o600)
    return folder


def test_modes_are_those_that_git_knows(clone: Path, tmp_path: Path) -> None:
    made = sources(tmp_path / "made", clone)
    modes = {str(path.relative_to(made)): path.stat().st_mode & 0o777 for path in made.rglob("*")}
    assert modes["system/etc/one"] == 0o644
    assert modes["system/bin/two"] == 0o755
    assert modes["ansible"] == modes["system/etc"] == 0o755


def test_a_copy_of_before_leaves_nothing(clone: Path, tmp_path: Path) -> None:
    made = sources(tmp_path / "made", clone)
    (clone / "system/etc/one").unlink()
    sources(made, clone)
    assert not (made / "system/etc/one").exists()


def test_all_that_the_roles_read_is_there(tmp_path: Path) -> None:
    """The paths in the roles lead out of their folder."""
    made = sources(tmp_path / "made")
    for name in ("ansible/site.yml", "ansible/ansible.cfg", "system/usr/lib", "image/packages.txt"):
        assert (made / name).exists()
