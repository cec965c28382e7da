"""Compares our prompt with the output of the model's own chat template for the same turns.

In: a template, or None, and this box's PromptStyle. Out: a TemplateComparison, for the log and
`interlude check`. The turns are examples: sound that a tool answered, typed text, sound that awaits
its answer. Any difference means that the model was trained with another prompt than it gets here.
"""

from __future__ import annotations

import logging
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import msgspec
import numpy as np

from appliance.models.local_model import LocalModel
from appliance.settings import ThinkingSettings
from appliance.think import prompt
from appliance.think.history import History, SpeechClip, ToolUse
from appliance.tools.table import Tool, function
from appliance.tools.tool_call_syntax import ToolCall

MOST_TEMPLATE_BYTES = 1 << 20  # Gemma 4's takes 20 kB
MOST_CPU_S = 5  # Python, jinja2 and Gemma 4's template take 0.3 s on a PC
PATIENCE_S = 300.0  # timeout of the renderer, for a Pi that loads a model at the same time
AROUND = 60  # letters shown before a difference; three times as many after it

log = logging.getLogger("thinker")


@dataclass(frozen=True)
class PromptStyle:
    """The parts of the prompt that depend on the model and the settings."""

    persona: str
    tools: Sequence[Tool] = ()
    instruction: str = ""

    @classmethod
    def of(
        cls, model: LocalModel, thinking: ThinkingSettings, tools: Sequence[Tool]
    ) -> PromptStyle:
        """Choose persona, tools and instruction. A model with a persona of its own was trained with
        its tools, so none are declared."""
        own = model.instruction
        return cls(
            thinking.persona if model.persona is None else model.persona,
            tuple(tools) if model.persona is None else (),
            thinking.instruction.strip() if own is None else own,
        )


@dataclass(frozen=True)
class TemplateComparison:
    """The result. `ours` and `its`: the two texts. `problem`: why a text is missing."""

    ours: str = ""
    its: str = ""
    problem: str = ""

    @property
    def same(self) -> bool:
        return not self.problem and self.ours == self.its

    def sentence(self) -> str:
        """Return the result as a sentence for the owner, with both texts where they differ."""
        if self.problem:
            return f"The prompt was not compared with the model's own chat template: {self.problem}"
        if self.same:
            return "The prompt is what the model's own chat template makes of it."
        pairs = zip(self.ours, self.its, strict=False)
        least = min(len(self.ours), len(self.its))
        at = next((at for at, (a, b) in enumerate(pairs) if a != b), least)
        ours, its = (text[max(0, at - AROUND) : at + 3 * AROUND] for text in (self.ours, self.its))
        return (
            f"The prompt differs from the model's own chat template at letter {at}: "
            f"it is {ours!r}, the template makes {its!r}."
        )


def compare(
    template: str | None, style: PromptStyle, most_cpu_s: int = MOST_CPU_S
) -> TemplateComparison:
    """Compare; takes a second of another process. `most_cpu_s`: CPU time of its renderings, in
    seconds."""
    if not template:
        return TemplateComparison(problem="the model brings none.")
    if len(template.encode(errors="replace")) > MOST_TEMPLATE_BYTES:
        return TemplateComparison(problem=f"it has more than {MOST_TEMPLATE_BYTES >> 10} kB.")
    ours = _ours(style)
    try:
        found = _rendered(template, style, most_cpu_s)
    except _RenderFailed as error:
        return TemplateComparison(ours, problem=f"it cannot be rendered ({error}).")
    texts = [rendering.text for rendering in found if not rendering.problem]
    if texts:
        return TemplateComparison(ours, ours if ours in texts else next(filter(None, texts), ""))
    return TemplateComparison(ours, problem=f"it cannot be rendered ({found[0].problem}).")


def compare_later(template: str | None, style: PromptStyle) -> threading.Thread:
    """Compare in a background thread and log the result."""
    thread = threading.Thread(
        target=_log_difference, args=(template, style), name="template", daemon=True
    )
    thread.start()
    return thread


def _log_difference(template: str | None, style: PromptStyle) -> None:
    found = compare(template, style)
    if found.same:
        log.info("%s", found.sentence())
        return
    log.warning("%s", found.sentence())
    if not found.problem:
        log.info("the prompt as a whole: %r", found.ours)
        log.info("the template's as a whole: %r", found.its)


def _history() -> History:
    history = History()
    turn = history.add_turn(1, [SpeechClip(1, np.zeros(640, np.int16))])
    turn.uses.append(
        ToolUse(ToolCall("timer", {"minutes": 5, "name": "eggs"}), "Five minutes, from now.")
    )
    turn.answer = "Five minutes, from now."
    history.add_turn(2, text="And what did I ask?").answer = "For a timer."
    history.add_turn(3, [SpeechClip(2, np.zeros(640, np.int16))])
    return history


def _ours(style: PromptStyle) -> str:
    """Return our prompt as text, with the mark that templates write for sound."""
    parts = prompt.render(
        style.persona, _history(), open_last=True, tools=style.tools, instruction=style.instruction
    )
    text = ""
    for part in parts:
        assert not isinstance(part, prompt.SampledTokens)
        text += "" if isinstance(part, SpeechClip) else part.text
    return text.replace("<|audio><audio|>", "<|audio|>")


def _messages(style: PromptStyle) -> list[list[dict[str, Any]]]:
    """Return the same turns as a template's input, in the two forms of a tool's answer."""
    before, after, tool = list[dict[str, Any]](), list[dict[str, Any]](), dict[str, Any]()
    if persona := style.persona.strip():
        before.append({"role": "system", "content": persona})
    history = _history()
    for turn in history.turns:
        content: list[dict[str, Any]] = [{"type": "audio"} for _ in turn.clips]
        words = turn.text or style.instruction
        if words:
            content.append({"type": "text", "text": words})
        (after if tool else before).append({"role": "user", "content": content})
        if turn.uses:
            (use,) = turn.uses
            called = {"name": use.call.name, "arguments": dict(use.call.arguments)}
            tool = {
                "calls": [{"id": "a", "type": "function", "function": called}],
                "name": use.call.name,
                "said": use.said,
                "content": turn.answer,
            }
        elif turn is not history.last:
            after.append({"role": "assistant", "content": turn.answer})
    said = {"name": tool["name"], "response": tool["said"]}
    in_one = {
        "role": "assistant",
        "tool_calls": tool["calls"],
        "tool_responses": [said],
        "content": tool["content"],
    }
    in_three = [
        {"role": "assistant", "tool_calls": tool["calls"], "content": None},
        {"role": "tool", "tool_call_id": "a", "name": tool["name"], "content": tool["said"]},
        {"role": "assistant", "content": tool["content"]},
    ]
    return [[*before, in_one, *after], [*before, *in_three, *after]]


def _declared(tool: Tool) -> dict[str, Any]:
    declared = function(tool)
    if not tool.parameters:
        del declared["function"]["parameters"]
    return declared


class ReadRendering(msgspec.Struct, frozen=True):
    """The renderer's answer for one form: its text, or why it has none. Defined anew, as its module
    imports jinja2."""

    text: str = ""
    problem: str = ""


# One for each form: anything else is no answer of ours.
_Renderings = Annotated[list[ReadRendering], msgspec.Meta(min_length=1)]


class _RenderFailed(Exception):
    """Raised when nothing can be rendered."""


def _rendered(template: str, style: PromptStyle, most_cpu_s: int) -> list[ReadRendering]:
    """Render the template for both forms, in another process. Raises _RenderFailed."""
    names: Mapping[str, Any] = {
        "tools": [_declared(tool) for tool in style.tools] or None,
        "add_generation_prompt": True,
        "enable_thinking": False,
        "bos_token": "<bos>",
        "eos_token": "<turn|>",
    }
    request = {
        "template": template, "conversations": _messages(style), "names": names,
        "most_cpu_s": most_cpu_s,
    }  # fmt: skip
    command = [sys.executable, "-m", "appliance.think.template_renderer"]
    try:
        done = subprocess.run(
            command,
            input=msgspec.json.encode(request),
            capture_output=True,
            timeout=PATIENCE_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise _RenderFailed(f"{type(error).__name__} of its process") from error
    if done.returncode < 0:
        raise _RenderFailed("its process was ended: it takes too long")
    if done.returncode:
        reason = done.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        raise _RenderFailed(reason or f"status {done.returncode}")
    try:
        return msgspec.json.decode(done.stdout, type=_Renderings)
    except msgspec.MsgspecError as error:  # from an untrusted template's process
        raise _RenderFailed("its process gave no texts") from error
