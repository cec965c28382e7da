"""A hook of mkdocs: the site is the README and every file that links lead to from there.

A page has the path on the site that it has in the tree, so that one link serves readers of both.
mkdocs itself reports a link or an anchor that leads nowhere. Nothing on the site may come from
elsewhere: a built page that loads something from another host ends the build.
"""

from __future__ import annotations

import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files, InclusionLevel

_LINK = re.compile(r"\]\((?![a-z]+:)([^)#\s]+)(?:#[^)\s]*)?\)")
_LOADED = re.compile(
    r"""<(?:script|img|iframe|link\b(?![^>]*rel="?canonical))\b[^>]*\b(?:src|href)="?(?:https?:)?//[^"\s>]+"""
    r"""|url\(["']?(?:https?:)?//[^)]+|@import\s+["'](?:https?:)?//[^"']+"""
)


def links(page: Path) -> list[Path]:
    """The files that a page of Markdown links to or shows, wherever they are; anchors left out."""
    text = page.read_text(encoding="utf-8")
    return [(page.parent / link).resolve() for link in _LINK.findall(text)]


def reached(start: Path) -> list[Path]:
    """`start` and each file that links lead to from there, sorted. A file that is missing is left
    out."""
    found, unread = {start}, [start]
    while unread:
        page = unread.pop()
        new = {path for path in links(page) if path.is_file()} - found
        found |= new
        unread += [path for path in new if path.suffix == ".md"]
    return sorted(found)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """The theme's own files, and in place of docs_dir all that the README leads to."""
    root = Path(config.config_file_path).resolve().parent
    kept = [file for file in files if file.src_dir != config.docs_dir]
    ours = [
        File(
            str(path.relative_to(root)),
            str(root),
            config.site_dir,
            config.use_directory_urls,
            inclusion=InclusionLevel.INCLUDED,  # .github/SIGNERS.md, too
        )
        for path in [
            *reached(root / "README.md"),
            *(root / str(style) for style in config.extra_css),
        ]
    ]
    return Files([*kept, *ours])


def plain_pipes(markdown: str) -> str:
    """GitHub wants a `|` in code escaped in a table; Python-Markdown shows the backslash."""
    rows = re.compile(r"^\|.*$", re.MULTILINE)
    code = re.compile(r"`[^`\n]+`")
    return rows.sub(
        lambda row: code.sub(lambda span: span[0].replace(r"\|", "|"), row[0]), markdown
    )


def on_page_markdown(markdown: str, **_: object) -> str:
    """A page's source, before it is rendered."""
    return plain_pipes(markdown)


def foreign(text: str) -> list[str]:
    """What a built page or style sheet would load from another host."""
    return _LOADED.findall(text)


def on_post_build(config: MkDocsConfig) -> None:
    """Raises PluginError if the site needs another host."""
    for path in sorted(Path(config.site_dir).rglob("*")):
        if path.suffix in {".html", ".css"} and (found := foreign(path.read_text("utf-8"))):
            raise PluginError(f"{path.name} loads {found[0]}: the site holds all that it shows.")
