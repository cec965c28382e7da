"""Renders the chat template of a model's file in a separate process.

`python -m appliance.think.template_renderer`. In, on stdin: JSON of RenderRequest. Out, on stdout:
JSON of a Rendering for each conversation; if nothing can be rendered, one line on stderr and exit
status 1. A template is an untrusted
program: it runs in jinja2's immutable sandbox, which blocks access to Python's internals, in its
own process with limits on memory and CPU time. The only import of jinja2. The environment's
settings are those that chat templates are written for.
"""

from __future__ import annotations

import json
import os
import resource
import sys
from typing import Any, NoReturn

import msgspec
from jinja2 import Template, TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment

MOST_MEMORY_BYTES = 256 << 20  # of address space; Python and jinja2 take a quarter
MOST_LETTERS = 1_000_000  # of the rendered text


class RenderRequest(msgspec.Struct, frozen=True):
    """The input: the template, the conversations to render, each a value of `messages`, the other
    variables that it may use, and the maximum CPU time in seconds."""

    template: str
    conversations: list[list[dict[str, Any]]]
    names: dict[str, Any]
    most_cpu_s: int


class Rendering(msgspec.Struct, frozen=True):
    """The text of one conversation, or why it has none."""

    text: str = ""
    problem: str = ""


def compiled(template: str) -> Template:
    """The template, for `render`. Raises TemplateError or any exception that it causes."""

    def refuse(reason: str) -> NoReturn:
        raise TemplateError(reason)

    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"]
    )
    environment.filters["tojson"] = lambda value: json.dumps(value, ensure_ascii=False)
    environment.globals["raise_exception"] = refuse
    return environment.from_string(template)


def render(template: Template, names: dict[str, Any]) -> str:
    """Return the rendered text. Raises TemplateError or any exception that the template causes."""
    text, letters = [], 0
    for piece in template.generate(**names):
        letters += len(piece)
        if letters > MOST_LETTERS:
            raise TemplateError("a text without end")
        text.append(piece)
    return "".join(text)


def _rendering(template: Template, names: dict[str, Any]) -> Rendering:
    try:
        return Rendering(render(template, names).encode(errors="replace").decode())
    except Exception as error:  # noqa: BLE001 - an untrusted template may raise anything
        return Rendering(problem=_in_a_line(error))


def _in_a_line(error: Exception) -> str:
    text = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
    return text.encode(errors="replace").decode()


def main() -> int:
    os.nice(19)  # the result is not urgent
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY_BYTES, MOST_MEMORY_BYTES))
    try:
        request = msgspec.json.decode(sys.stdin.buffer.read(), type=RenderRequest)
        resource.setrlimit(resource.RLIMIT_CPU, (request.most_cpu_s, request.most_cpu_s))
        template = compiled(request.template)
        found = [_rendering(template, {**request.names, "messages": messages})
                 for messages in request.conversations]  # fmt: skip
        sys.stdout.buffer.write(msgspec.json.encode(found))
    except Exception as error:  # noqa: BLE001 - an untrusted template may raise anything
        sys.stderr.write(f"{_in_a_line(error)}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
