"""The table of tools: name, description for the model, parameters and condition of each.

Out: declarations in the form of Gemma 4's chat template and in that of an OpenAI-compatible server.
The descriptions are part of every prompt, so they are short.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from appliance.settings import Settings
from appliance.tools.tool_call_syntax import QUOTE


@dataclass(frozen=True)
class ToolParameter:
    """A parameter of a tool. `options`: its possible values. `needed`: it is required."""

    name: str
    about: str = ""
    kind: Literal["string", "number"] = "string"
    options: tuple[str, ...] = ()
    needed: bool = False


@dataclass(frozen=True)
class Tool:
    """One row. `there`: returns whether this box has the tool."""

    name: str
    about: str
    parameters: tuple[ToolParameter, ...] = ()
    there: Callable[[Settings], bool] = lambda settings: True


def _has_house(settings: Settings) -> bool:
    return bool(settings.link.broker) and settings.tools.home


_NAME = ToolParameter("name", "only if the user gave one")

TOOLS: tuple[Tool, ...] = (
    Tool("time", "Tells the time."),
    Tool("date", "Tells today's date."),
    Tool("timer", "Starts a timer.", (ToolParameter("minutes", kind="number", needed=True), _NAME)),
    Tool("alarm", "Rings at a time.", (ToolParameter("at", "HH:MM, 24 hours", needed=True), _NAME)),
    Tool("timers", "Lists timers and alarms and how long they have left."),
    Tool("cancel_timer", "Cancels or silences a timer or an alarm.", (_NAME,)),
    Tool(
        "volume",
        "Changes how loud you speak.",
        (ToolParameter("change", options=("up", "down")), ToolParameter("percent", kind="number")),
    ),
    Tool("repeat", "Says your last answer again."),
    Tool(
        "forget",
        "Forgets the last thing the user said.",
        (ToolParameter("what", "to forget all: everything", options=("everything",)),),
    ),
    Tool(
        "home",
        "Does one thing in the house, or asks the house: lights, heating, doors, sensors.",
        (ToolParameter("command", "in plain words", needed=True),),
        there=_has_house,
    ),
)  # fmt: skip


def available(settings: Settings) -> tuple[Tool, ...]:
    """Return the tools that this box has."""
    return tuple(tool for tool in TOOLS if tool.there(settings))


def declaration(tool: Tool) -> str:
    """Return `<|tool>declaration:…<tool|>` exactly as Gemma 4's chat template writes it."""
    text = f"<|tool>declaration:{tool.name}{{description:{_quoted(tool.about)}"
    if tool.parameters:
        properties = ",".join(
            f"{parameter.name}:{{{_property(parameter)}}}"
            for parameter in sorted(tool.parameters, key=lambda parameter: parameter.name)
        )
        text += f",parameters:{{properties:{{{properties}}},"
        needed = [_quoted(parameter.name) for parameter in tool.parameters if parameter.needed]
        if needed:
            text += f"required:[{','.join(needed)}],"
        text += f"type:{_quoted('OBJECT')}}}"
    return text + "}<tool|>"


def _property(parameter: ToolParameter) -> str:
    parts = []
    if parameter.about:
        parts.append(f"description:{_quoted(parameter.about)}")
    if parameter.options:
        parts.append(f"enum:[{','.join(map(_quoted, parameter.options))}]")
    return ",".join([*parts, f"type:{_quoted(parameter.kind.upper())}"])


def _quoted(text: str) -> str:
    return f"{QUOTE}{text}{QUOTE}"


def function(tool: Tool) -> dict[str, Any]:
    """Return the declaration in the format of OpenAI's chat completions."""
    properties: dict[str, Any] = {}
    for parameter in tool.parameters:
        properties[parameter.name] = {"type": parameter.kind}
        if parameter.about:
            properties[parameter.name]["description"] = parameter.about
        if parameter.options:
            properties[parameter.name]["enum"] = list(parameter.options)
    needed = [parameter.name for parameter in tool.parameters if parameter.needed]
    schema = {"type": "object", "properties": properties, "required": needed}
    about = {"name": tool.name, "description": tool.about, "parameters": schema}
    return {"type": "function", "function": about}
