"""Renders HTML from the templates beside this file; all inserted values are escaped."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import jinja2

FOLDER = Path(__file__).with_name("templates")


@functools.cache
def _environment(folder: Path) -> jinja2.Environment:
    """One per process, as it caches the compiled templates."""
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


class Templates:
    def __init__(self, folder: Path = FOLDER) -> None:
        self._found = _environment(folder)

    def render(self, template: str, /, **words: Any) -> str:
        """Render a template. Raises jinja2's errors: a missing value is a programming error."""
        return self._found.get_template(f"{template}.html").render(words)
