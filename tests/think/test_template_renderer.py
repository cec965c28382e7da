"""Templates are rendered with the conventions of chat templates, in a sandbox."""

from __future__ import annotations

from typing import Any

import pytest
from jinja2 import TemplateError
from jinja2.exceptions import SecurityError, UndefinedError

from appliance.think.template_renderer import MOST_LETTERS, compiled, render


def text(template: str, **names: Any) -> str:
    return render(compiled(template), names)


def test_a_block_leaves_no_empty_line() -> None:
    assert text("{% for n in all %}\n    {{ n }}\n{% endfor %}\nend", all=[1, 2]) == (
        "    1\n    2\nend"
    )


def test_break_is_supported_and_json_keeps_its_letters() -> None:
    assert (
        text("{% for n in [1, 2, 3] %}{% if n == 2 %}{% break %}{% endif %}{{ n }}{% endfor %}")
        == "1"
    )
    assert text("{{ data | tojson }}", data={"a": "é <b>"}) == '{"a": "é <b>"}'


def test_a_template_may_raise_an_exception() -> None:
    with pytest.raises(TemplateError, match="roles must alternate"):
        text("{{ raise_exception('roles must alternate') }}")


@pytest.mark.parametrize(
    "template",
    ["{{ ''.__class__.__mro__ }}", "{{ data.append(1) }}", "{{ cycler.__init__.__globals__ }}"],
)
def test_a_template_cannot_reach_python_or_change_its_values(template: str) -> None:
    data = [0]
    with pytest.raises((SecurityError, UndefinedError)):
        text(template, data=data)
    assert data == [0]


def test_a_text_of_the_maximum_length_is_accepted_and_a_longer_one_is_not() -> None:
    assert len(text("{{ a }}", a="x" * MOST_LETTERS)) == MOST_LETTERS
    with pytest.raises(TemplateError, match="a text without end"):
        text("{{ a }}y", a="x" * MOST_LETTERS)


def test_rendering_has_no_state_between_calls() -> None:
    template = (
        "{% set n = namespace(at=0) %}{% for m in all %}{% set n.at = n.at + m %}{% endfor %}"
        "{{ n.at }}"
    )
    assert text(template, all=[1, 2]) == text(template, all=[1, 2]) == "3"
