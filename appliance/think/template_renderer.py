"""Renders a chat template that came in a model's file, in a process of its own.

`python -m appliance.think.template_renderer`. In, on stdin: JSON of RenderRequest. Out, on stdout:
the text in UTF-8; on stderr one line of what is wrong, and exit status 1. A template is a program,
and nobody here wrote it: it runs in jinja2's sandbox, which changes nothing and calls nothing of
Python's, in a process of its own with little memory and little time. The only import of jinja2. The
settings are those by which such templates are written.
"""

from __future__ import annotations

import json
import os
import resource
import sys
from typing import Any, NoReturn

import msgspec
from jinja2 import TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment

MOST_MEMORY_BYTES = 256 << 20  # of address space; Python and jinja2 take a quarter
MOST_LETTERS = 1_000_000  # of the text


class RenderRequest(msgspec.Struct, frozen=True):
    """What is rendered: the template, and the names that it may use; in how many seconds of a
    processor at most."""

    template: str
    names: dict[str, Any]
    most_cpu_s: int


def render(order: RenderRequest) -> str:
    """The text. Raises TemplateError, or whatever else the template trips over."""

    def refuse(reason: str) -> NoReturn:
        raise TemplateError(reason)

    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"]
    )
    environment.filters["tojson"] = lambda value: json.dumps(value, ensure_ascii=False)
    environment.globals["raise_exception"] = refuse
    text, letters = [], 0
    for piece in environment.from_string(order.template).generate(**order.names):
        letters += len(piece)
        if letters > MOST_LETTERS:
            raise TemplateError("a text without end")
        text.append(piece)
    return "".join(text)


def main() -> int:
    os.nice(19)  # nobody waits for it
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY_BYTES, MOST_MEMORY_BYTES))
    try:
        order = msgspec.json.decode(sys.stdin.buffer.read(), type=RenderRequest)
        resource.setrlimit(resource.RLIMIT_CPU, (order.most_cpu_s, order.most_cpu_s))
        text = render(order)
    except Exception as error:  # noqa: BLE001 - it is a stranger's program
        reason = " ".join(str(error).split())[:200]
        sys.stderr.write(f"{type(error).__name__}: {reason}\n")
        return 1
    sys.stdout.buffer.write(text.encode(errors="replace"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
