"""HTML from the templates beside this file. What is put into them is escaped."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jinja2

FOLDER = Path(__file__).with_name("templates")


class Templates:
    def __init__(self, folder: Path = FOLDER) -> None:
        self._found = jinja2.Environment(
            loader=jinja2.FileSystemLoader(folder),
            autoescape=True,
            undefined=jinja2.StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )

    def render(self, template: str, /, **words: Any) -> str:
        """Raises jinja2's own errors: a template that lacks a word is a mistake of ours."""
        return self._found.get_template(f"{template}.html").render(words)
