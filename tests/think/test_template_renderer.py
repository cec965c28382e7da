"""A template is rendered as such templates are written, and may do no more than that."""

from __future__ import annotations

from typing import Any

import pytest
from jinja2 import TemplateError
from jinja2.exceptions import SecurityError, UndefinedError

from appliance.think.template_renderer import MOST_LETTERS, RenderRequest, render


def text(template: str, **names: Any) -> str:
    return render(RenderRequest(template, names, 1))


def test_a_block_takes_no_line_of_its_own() -> None:
    assert text("{% for n in all %}\n    {{ n }}\n{% endfor %}\nend", all=[1, 2]) == (
        "    1\n    2\nend"
    )


def test_loops_may_be_left_and_json_keeps_its_letters() -> None:
    assert (
        text("{% for n in [1, 2, 3] %}{% if n == 2 %}{% break %}{% endif %}{{ n }}{% endfor %}")
        == "1"
    )
    assert text("{{ said | tojson }}", said={"a": "é <b>"}) == '{"a": "é <b>"}'


def test_a_template_may_say_what_is_wrong() -> None:
    with pytest.raises(TemplateError, match="roles must alternate"):
        text("{{ raise_exception('roles must alternate') }}")


@pytest.mark.parametrize(
    "template",
    ["{{ ''.__class__.__mro__ }}", "{{ said.append(1) }}", "{{ cycler.__init__.__globals__ }}"],
)
def test_nothing_of_pythons_is_called_and_nothing_changed(template: str) -> None:
    said = [0]
    with pytest.raises((SecurityError, UndefinedError)):
        text(template, said=said)
    assert said == [0]


def test_a_text_of_the_most_letters_is_taken_and_one_more_is_not() -> None:
    assert len(text("{{ a }}", a="x" * MOST_LETTERS)) == MOST_LETTERS
    with pytest.raises(TemplateError, match="a text without end"):
        text("{{ a }}y", a="x" * MOST_LETTERS)


def test_the_same_template_and_names_are_the_same_text_each_time() -> None:
    template = (
        "{% set n = namespace(at=0) %}{% for m in all %}{% set n.at = n.at + m %}{% endfor %}"
        "{{ n.at }}"
    )
    assert text(template, all=[1, 2]) == text(template, all=[1, 2]) == "3"
