"""HTML from templates: inserted values are escaped, and a missing one is an error."""

from __future__ import annotations

from pathlib import Path

import jinja2
import pytest

from appliance.page.templates import Templates


def test_inserted_values_are_escaped(tmp_path: Path) -> None:
    (tmp_path / "one.html").write_text('<p title="{{ word }}">{{ word }}</p>')
    made = Templates(tmp_path).render("one", word="<script>\"'")
    assert made == '<p title="&lt;script&gt;&#34;&#39;">&lt;script&gt;&#34;&#39;</p>'


def test_a_missing_value_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "one.html").write_text("{{ word }}")
    with pytest.raises(jinja2.UndefinedError):
        Templates(tmp_path).render("one")


def test_no_template_has_an_inline_script_or_style() -> None:
    """The content security policy would block it."""
    for path in (Path(__file__).parents[2] / "appliance/page/templates").glob("*.html"):
        text = path.read_text(encoding="utf-8")
        assert " style=" not in text
        assert "<style" not in text
        assert " on" + "click" not in text
