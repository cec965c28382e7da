"""The site has every page reachable from the README, and loads nothing from other hosts."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from mkdocs.commands.build import build
from mkdocs.config import load_config
from mkdocs.exceptions import Abort

from scripts import site_pages

ROOT = Path(__file__).parents[1]


@pytest.fixture(autouse=True)
def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in scripts/site.sh; else the theme sets it, for the rest of the process."""
    monkeypatch.setenv("NO_MKDOCS_2_WARNING", "1")


def test_the_site_has_every_page_of_docs_and_the_pages_next_to_the_code() -> None:
    pages = {str(path.relative_to(ROOT)) for path in site_pages.reached(ROOT / "README.md")}
    assert {str(path.relative_to(ROOT)) for path in (ROOT / "docs").rglob("*.md")} <= pages
    assert {"hw/audio.md", "appliance/dialog/table.md", "docs/demo.png", "LICENSE"} <= pages


def test_links_to_pages_and_pictures_are_followed_and_links_to_hosts_are_not(
    tmp_path: Path,
) -> None:
    (tmp_path / "a.md").write_text("[b](b.md#head) [web](https://example.org/c.md) [no](gone.md)")
    (tmp_path / "b.md").write_text("![seen](picture.png) [a](a.md)\n[c](folder/c.py)")
    (tmp_path / "picture.png").touch()
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder/c.py").write_text("[d](../d.md)")
    (tmp_path / "d.md").touch()
    names = [path.relative_to(tmp_path) for path in site_pages.reached(tmp_path / "a.md")]
    assert [str(name) for name in names] == ["a.md", "b.md", "folder/c.py", "picture.png"]


def build_site(tree: Path, readme: str) -> None:
    """Build a site with our mkdocs.yml: the page `readme`, a page.md and a code.py."""
    for name in ("scripts/site_pages.py", "docs/site.css"):
        (tree / name).parent.mkdir()
        shutil.copy(ROOT / name, tree / name)
    settings = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:")[0]
    (tree / "mkdocs.yml").write_text(settings, encoding="utf-8")
    (tree / "README.md").write_text(readme, encoding="utf-8")
    (tree / "page.md").write_text("# One\n\n## Two words, and more\n", encoding="utf-8")
    (tree / "code.py").touch()
    build(load_config(str(tree / "mkdocs.yml"), strict=True))


@pytest.mark.long
def test_a_site_has_pages_and_code_at_their_paths(tmp_path: Path) -> None:
    build_site(tmp_path, "# Head\n\n[a](page.md#two-words-and-more) [b](code.py) [c](#head)\n")
    assert 'href="page.html#two-words-and-more"' in (tmp_path / "build/site/index.html").read_text()
    assert (tmp_path / "build/site/code.py").is_file()


@pytest.mark.long
def test_every_broken_link_is_named_and_ends_the_build(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    broken = ("gone.md", "page.md#three", "#nowhere", "/page.md", "gone.py")
    links = " ".join(f"[b]({link})" for link in broken)
    with pytest.raises(Abort):  # a warning is enough
        build_site(tmp_path, f"# Head\n\n[a](page.md) {links}\n")
    warnings = [r.getMessage() for r in caplog.records if r.levelname == "WARNING"]
    assert [link for link in broken if not any(f"'{link}'" in each for each in warnings)] == []


@pytest.mark.long
def test_a_page_that_loads_a_resource_from_another_host_ends_the_build(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(Abort):
        build_site(tmp_path, "# Head\n\n![a](https://example.org/a.png)\n")
    assert "index.html loads" in caplog.text


def test_an_escaped_pipe_in_table_code_loses_its_backslash() -> None:
    escaped, plain = r"| `a \| b` | c \| d |", r"| `a | b` | c \| d |"
    assert site_pages.plain_pipes(f"x `a \\| b`\n{escaped}\n") == f"x `a \\| b`\n{plain}\n"


@pytest.mark.parametrize(
    "text",
    [
        '<script src="https://example.org/x.js"></script>',
        '<img alt="x" src=//example.org/x.png>',
        '<link href="https://example.org/font.css" rel="stylesheet">',
        "@font-face { src: url(https://example.org/font.woff2) }",
        '@import "https://example.org/x.css";',
    ],
)
def test_a_resource_from_another_host_is_found(text: str) -> None:
    assert site_pages.foreign(text)


@pytest.mark.parametrize(
    "text",
    [
        '<a href="https://example.org">a link that a reader may follow</a>',
        '<link href="../assets/main.css" rel="stylesheet">',
        '<link rel="canonical" href="https://example.org/page.html">',
        "a { background: url(data:image/svg+xml;x) }",
        '<img alt="x" src="docs/demo.png">',
    ],
)
def test_local_resources_and_plain_links_are_accepted(text: str) -> None:
    assert site_pages.foreign(text) == []
