"""Packing a release is reproducible, and unpacking restores the tree."""

from __future__ import annotations

import io
import os
import tarfile
from pathlib import Path

import pytest

from appliance.errors import ReleaseRefused
from appliance.update.release.archive import RELEASE
from appliance.update.release.pack import pack, squeeze
from tests.update.release.workshop import Bench


@pytest.mark.process
def test_unpacking_restores_the_packed_tree(at: Bench) -> None:
    at.installer().install(at.shop.make("0.1.0"))
    packed, there = at.shop.folder / "tree-0.1.0-good", at.store.folder("0.1.0")
    for path in packed.rglob("*"):
        twin = there / path.relative_to(packed)
        assert twin.is_symlink() == path.is_symlink()
        if path.is_file():
            assert twin.read_bytes() == path.read_bytes()
            assert os.access(twin, os.X_OK) == os.access(path, os.X_OK)


@pytest.mark.process
def test_the_same_tree_makes_the_same_tree_archive(at: Bench) -> None:
    manifest = RELEASE.peek(at.shop.make("0.1.0"))
    assert manifest is not None
    assert RELEASE.peek(at.shop.make("0.1.0")) == manifest


def test_the_owner_and_times_of_a_tree_are_not_packed(tmp_path: Path) -> None:
    made = []
    for name, mode, time_s in (("one", 0o600, 1e9), ("other", 0o664, 1.7e9)):
        tree = tmp_path / name
        (tree / "bin").mkdir(parents=True)
        (tree / "bin/x").write_text("run")
        (tree / "bin/x").chmod(0o755)
        (tree / "y").write_text("yy")
        (tree / "y").chmod(mode)
        os.utime(tree / "y", (time_s, time_s))
        made.append(squeeze(tree, 9))
    assert made[0] == made[1]
    assert made[0][1] == 5


def test_a_hard_link_is_packed_as_a_second_file(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("twice")
    (tmp_path / "b").hardlink_to(tmp_path / "a")
    (tmp_path / "c").symlink_to("a")
    data, files_bytes = squeeze(tmp_path, 9)
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        kinds = {member.name: (member.isreg(), member.size) for member in tar}
    assert kinds == {"a": (True, 5), "b": (True, 5), "c": (False, 0)}
    assert files_bytes == 10


@pytest.mark.process
@pytest.mark.parametrize("name", ["policy.json", "signers.json"])
def test_a_policy_or_list_of_keys_that_every_box_would_refuse_is_not_packed(
    at: Bench, name: str
) -> None:
    more = {f"policy/{name}": b"[", f"policy/{name}.sig": b""}
    with pytest.raises(ReleaseRefused, match=f"{name} cannot be used"):
        at.shop.make("0.1.0", more=more)


def test_an_invalid_version_is_refused_before_anything_is_packed(tmp_path: Path) -> None:
    with pytest.raises(ReleaseRefused, match="is no version"):
        pack(tmp_path / "none", tmp_path, version="1", machine="any", python="any",
             made_s=0)  # fmt: skip
