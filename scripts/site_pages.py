"""A hook of mkdocs that puts the README and every file reachable from it by links on the site.

A page has the same path on the site as in the tree, so that a link works in both. mkdocs itself
reports broken links and anchors. The build fails if a page would load a script, style or image from
another host.
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
    """The local files that a Markdown page links to or shows, without anchors."""
    text = page.read_text(encoding="utf-8")
    return [(page.parent / link).resolve() for link in _LINK.findall(text)]


def reached(start: Path) -> list[Path]:
    """`start` and every existing file reachable from it by links, sorted."""
    found, unread = {start}, [start]
    while unread:
        page = unread.pop()
        new = {path for path in links(page) if path.is_file()} - found
        found |= new
        unread += [path for path in new if path.suffix == ".md"]
    return sorted(found)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Replace the files of docs_dir by those reachable from the README; keep the theme's files."""
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
    """Unescape `|` in the code of tables: GitHub needs the backslash, Python-Markdown shows it."""
    rows = re.compile(r"^\|.*$", re.MULTILINE)
    code = re.compile(r"`[^`\n]+`")
    return rows.sub(
        lambda row: code.sub(lambda span: span[0].replace(r"\|", "|"), row[0]), markdown
    )


def on_page_markdown(markdown: str, **_: object) -> str:
    """Change a page's source before it is rendered; mkdocs calls this."""
    return plain_pipes(markdown)


def foreign(text: str) -> list[str]:
    """The references of a built page or style sheet that load a file from another host."""
    return _LOADED.findall(text)


def on_post_build(config: MkDocsConfig) -> None:
    """Raise PluginError if a page of the built site loads a file from another host."""
    for path in sorted(Path(config.site_dir).rglob("*")):
        if path.suffix in {".html", ".css"} and (found := foreign(path.read_text("utf-8"))):
            raise PluginError(f"{path.name} loads {found[0]}: the site may not need another host.")
