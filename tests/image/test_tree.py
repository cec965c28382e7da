"""Two trees are equal if their listings are, and otherwise the differences are listed."""

from __future__ import annotations

from pathlib import Path

import pytest

from image.tree import differences, digest, listing, main


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    folder = tmp_path / "one"
    (folder / "etc").mkdir(parents=True)
    (folder / "etc/hostname").write_text("interlude\n")
    (folder / "etc/link").symlink_to("hostname")
    return folder


def test_times_are_ignored(tree: Path) -> None:
    before = listing(tree)
    (tree / "etc/hostname").write_text("interlude\n")
    assert digest(listing(tree)) == digest(before)


def test_content_modes_links_and_names_are_compared(tree: Path) -> None:
    before = listing(tree)
    (tree / "etc/hostname").write_text("interlude2\n")
    assert differences(before, listing(tree)) == ["! etc/hostname"]
    (tree / "etc/hostname").write_text("interlude\n")
    (tree / "etc/hostname").chmod(0o600)
    (tree / "etc/link").unlink()
    (tree / "etc/new").write_text("")
    assert differences(before, listing(tree)) == ["! etc/hostname", "- etc/link", "+ etc/new"]


def test_a_tree_and_its_listing_are_compared_alike(
    tree: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    saved = tmp_path / "saved.list"
    saved.write_text(listing(tree))
    assert main([str(tree), str(saved)]) == 0
    (tree / "etc/link").unlink()
    assert main([str(saved), str(tree)]) == 1
    assert "- etc/link" in capsys.readouterr().out
