"""Comparison of the prompt with the model's template: equal, different, missing or malicious."""

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


STYLE = PromptStyle("Be kind.", (), "Reply briefly.")
# Templates in Gemma 4's format, with both places for a tool's answer: in the message with the call,
# or in a separate message, after which the model's turn continues.
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
def test_a_template_with_the_same_output_compares_equal(template: str) -> None:
    for style in (
        STYLE,
        PromptStyle("Be kind."),
        PromptStyle("Be kind.", (), "It is {{ 7 * 7 }}, said { %}."),
    ):
        found = compare(template, style)
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
def test_a_difference_of_one_letter_is_reported_with_both_texts(was: str, now: str) -> None:
    found = compare(IN_ONE.replace(was, now), STYLE)
    assert found.same == (was == now)
    if was != now:
        at = next(i for i, (a, b) in enumerate(zip(f"{found.ours}\0", found.its, strict=False))
                  if a != b)  # fmt: skip
        assert f"at letter {at}: it is " in found.sentence()
        assert repr(found.its[at : at + 20])[1:-1] in found.sentence()
        assert repr(found.ours[at - 20 : at + 20])[1:-1] in found.sentence()


def test_a_missing_template_is_reported() -> None:
    for none in (None, ""):
        assert "the model brings none" in compare(none, STYLE).sentence()


@pytest.mark.parametrize(
    ("template", "messages"),
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
def test_a_malicious_template_is_stopped_and_reported(template: str, messages: str) -> None:
    began_s = time.monotonic()
    found = compare(template, STYLE)
    assert any(part in found.sentence() for part in messages.split("|")), found.sentence()
    assert not found.same
    assert time.monotonic() - began_s < 60


def test_an_endless_template_is_ended() -> None:
    loop = "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}"
    found = compare(loop, STYLE, most_cpu_s=1)
    assert "its process was ended: it takes too long" in found.sentence()


def test_the_comparison_runs_in_the_background_and_logs_a_difference(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    began_s = time.monotonic()
    thread = compare_later(IN_ONE.replace("value:", "answer:"), STYLE)
    assert time.monotonic() - began_s < 0.2
    thread.join(60)
    warning, ours, its = caplog.records
    assert warning.levelname == "WARNING"
    assert "The prompt differs" in warning.message
    assert "{value:" in ours.message
    assert "{answer:" in its.message


# ── the shipped models ───────────────────────────────────────────────────────────────────────────
def test_the_prompt_equals_the_pocket_models_template() -> None:
    model = ModelStore(Path("/nowhere"), catalogue.load()).language_model("pocket")
    thinking = load(None).thinking
    found = compare(template_of(model.text), PromptStyle.of(model, thinking, available(load(None))))
    assert found.same, found.sentence()
    assert check.prompt(load(None)) == ok("prompt", found.sentence())


def test_tools_and_instruction_go_only_to_a_model_without_its_own_persona() -> None:
    thinking = load(None).thinking
    style = PromptStyle.of(LocalModel("any", Path("a"), Path("b")), thinking, TOOLS)
    assert style == PromptStyle(thinking.persona, TOOLS, "Respond to the audio concisely.")
    own = LocalModel("own", Path("a"), Path("b"), persona="I", instruction="")
    assert PromptStyle.of(own, thinking, TOOLS) == PromptStyle("I", (), "")


def test_a_file_without_a_template_has_none(tmp_path: Path) -> None:
    tiny.write_text(tmp_path / "text.gguf")
    assert template_of(tmp_path / "text.gguf") is None


def test_an_empty_comparison_is_not_equal() -> None:
    assert not TemplateComparison(problem="why").same
