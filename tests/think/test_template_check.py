"""The prompt beside a template of the model's: the same, another, none, and one that does harm."""

from __future__ import annotations

import logging
import time
from pathlib import Path

import pytest

from appliance.cli import check
from appliance.models import catalogue
from appliance.models.local_model import LocalModel
from appliance.models.store import ModelStore
from appliance.runtime.diagnostics import ok
from appliance.settings import load
from appliance.think.template_check import PromptStyle, TemplateComparison, compare, compare_later
from appliance.think.vocabulary import template_of
from appliance.tools.table import TOOLS, available
from tests.think import tiny

pytestmark = pytest.mark.process


WAY = PromptStyle("Be kind.", (), "Reply briefly.")
# In Gemma 4's form, in both ways that templates know of what a tool said: in the message that calls
# it, or in one of its own, after which the model's turn goes on.
HEAD = """\
{{ bos_token }}{% for m in messages %}{% set model = m['role'] == 'assistant' %}\
{% set calls = m['tool_calls'] or [] %}"""
TURN = """\
<|turn>{{ 'model' if model else m['role'] }}{{ '\\n' }}"""
CALLS = """\
{% for c in calls %}<|tool_call>call:{{ c['function']['name'] }}{{ '{' }}\
{% for k, v in c['function']['arguments'] | dictsort %}{{ k }}:\
{{ '<|"|>' + v + '<|"|>' if v is string else v }}{{ ',' if not loop.last }}{% endfor %}\
}<tool_call|>{% endfor %}"""
SAID = """<|tool_response>response:{{ NAME }}{{ '{' }}value:<|"|>{{ SAID }}<|"|>}<tool_response|>"""
CONTENT = """\
{% if m['content'] is string %}{{ m['content'] }}{% else %}{% for p in m['content'] or [] %}\
{{ p['text'] if p['type'] == 'text' else '<|audio|>' }}{% endfor %}{% endif %}"""
END = """<turn|>{{ '\\n' }}"""
TAIL = """{% endfor %}{% if add_generation_prompt %}<|turn>model
{% endif %}"""


def said(name: str, text: str) -> str:
    return SAID.replace("NAME", name).replace("SAID", text)


IN_ONE = "".join([
    HEAD, TURN, CALLS,
    "{% for r in m['tool_responses'] or [] %}", said("r['name']", "r['response']"), "{% endfor %}",
    CONTENT, END, TAIL,
])  # fmt: skip
IN_THREE = "".join([
    HEAD, "{% if m['role'] == 'tool' %}", said("m['name']", "m['content']"), "{% else %}",
    "{% if loop.first or loop.previtem['role'] != 'tool' %}", TURN, "{% endif %}",
    CALLS, CONTENT, "{% if not calls %}", END, "{% endif %}", "{% endif %}", TAIL,
])  # fmt: skip


@pytest.mark.parametrize("template", [IN_ONE, IN_THREE], ids=["in one message", "in three"])
def test_a_template_that_makes_the_same_text_is_the_same(template: str) -> None:
    for way in (
        WAY,
        PromptStyle("Be kind."),
        PromptStyle("Be kind.", (), "It is {{ 7 * 7 }}, said { %}."),
    ):
        found = compare(template, way)
        assert found.same, found.sentence()
    assert "<|tool_response>response:timer" in found.ours


@pytest.mark.parametrize(
    ("was", "now"),
    [
        ("<|audio|>", "<|audio|>\n"),
        ("value:", "answer:"),
        ("Reply", "Reply"),
        ("<|turn>model\n{% endif", "<|turn>model\n<|channel>thought\n<channel|>{% endif"),
        ("| dictsort", "| dictsort | reverse"),
    ],
)
def test_one_letter_of_another_template_is_found_and_both_texts_are_said(
    was: str, now: str
) -> None:
    found = compare(IN_ONE.replace(was, now), WAY)
    assert found.same == (was == now)
    if was != now:
        at = next(i for i, (a, b) in enumerate(zip(f"{found.ours}\0", found.its, strict=False))
                  if a != b)  # fmt: skip
        assert f"at letter {at}: it is " in found.sentence()
        assert repr(found.its[at : at + 20])[1:-1] in found.sentence()
        assert repr(found.ours[at - 20 : at + 20])[1:-1] in found.sentence()


def test_a_model_without_a_template_is_said() -> None:
    for none in (None, ""):
        assert "the model brings none" in compare(none, WAY).sentence()


@pytest.mark.parametrize(
    ("template", "said"),
    [
        ("{% for", "TemplateSyntaxError"),
        ("{{ raise_exception('no system turn') }}", "TemplateError: no system turn"),
        ("{{ messages.no.such }}", "UndefinedError"),
        ("{{ ''.__class__.__mro__[1].__subclasses__() }}", "SecurityError"),
        ("{{ messages.append(1) }}", "SecurityError"),
        ("{% include '/etc/passwd' %}", "TypeError|TemplateNotFound|no loader"),
        ("{{ 'x' * 10**10 }}", "MemoryError|OverflowError"),
        ("{% set n = namespace(a='x') %}{% for i in range(99) %}"
         "{% set n.a = n.a ~ n.a %}{% endfor %}", "MemoryError"),
        ("{% for i in range(99999) %}{{ 'x' * 999 }}{% endfor %}", "a text without end"),
        ("x" * (2 << 20), "more than 1024 kB"),
    ],
)  # fmt: skip
def test_a_template_that_does_harm_does_none_and_is_said(template: str, said: str) -> None:
    began_s = time.monotonic()
    found = compare(template, WAY)
    assert any(part in found.sentence() for part in said.split("|")), found.sentence()
    assert not found.same
    assert time.monotonic() - began_s < 60


def test_a_template_without_end_is_ended() -> None:
    loop = "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}"
    found = compare(loop, WAY, most_cpu_s=1)
    assert "its process was ended: it takes too long" in found.sentence()


def test_whoever_loads_the_model_does_not_wait_and_reads_it_in_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    began_s = time.monotonic()
    thread = compare_later(IN_ONE.replace("value:", "answer:"), WAY)
    assert time.monotonic() - began_s < 0.2
    thread.join(60)
    warning, ours, its = caplog.records
    assert warning.levelname == "WARNING"
    assert "The prompt differs" in warning.message
    assert "{value:" in ours.message
    assert "{answer:" in its.message


# ── the models that there are ────────────────────────────────────────────────────────────────
def test_the_pocket_model_is_asked_as_its_template_says() -> None:
    model = ModelStore(Path("/nowhere"), catalogue.load()).language_model("pocket")
    thinking = load(None).thinking
    found = compare(template_of(model.text), PromptStyle.of(model, thinking, available(load(None))))
    assert found.same, found.sentence()
    assert check.prompt(load(None)) == ok("prompt", found.sentence())


def test_a_model_of_the_owners_persona_is_told_of_tools_and_given_the_instruction() -> None:
    thinking = load(None).thinking
    way = PromptStyle.of(LocalModel("any", Path("a"), Path("b")), thinking, TOOLS)
    assert way == PromptStyle(thinking.persona, TOOLS, "Respond to the audio concisely.")
    own = LocalModel("own", Path("a"), Path("b"), persona="I", instruction="")
    assert PromptStyle.of(own, thinking, TOOLS) == PromptStyle("I", (), "")


def test_a_file_without_a_template_has_none(tmp_path: Path) -> None:
    tiny.write_text(tmp_path / "text.gguf")
    assert template_of(tmp_path / "text.gguf") is None


def test_a_comparison_of_nothing_is_not_the_same() -> None:
    assert not TemplateComparison(problem="why").same
