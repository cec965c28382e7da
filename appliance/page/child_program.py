"""Runs programs as child processes without blocking the page. They have the page's privileges."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import suppress

log = logging.getLogger("page")


class ChildPrograms:
    """The running programs. Use it in an event loop."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    def start(
        self, command: Sequence[str], stdin: bytes, longest_s: float, done: Callable[[bytes], None]
    ) -> None:
        """Start a program with `stdin` on its standard input. `done` is called with its output, or
        b"" if it failed or took longer than `longest_s`."""
        task = asyncio.get_running_loop().create_task(_run(command, stdin, longest_s, done))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """Kill the running programs and wait for them."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


async def _run(
    command: Sequence[str], stdin: bytes, longest_s: float, done: Callable[[bytes], None]
) -> None:
    output = b""
    pipe = asyncio.subprocess.PIPE
    try:
        child = await asyncio.create_subprocess_exec(
            *command, stdin=pipe, stdout=pipe, stderr=asyncio.subprocess.DEVNULL
        )
    except OSError as error:
        log.warning("%s cannot be started (%s)", command[-1], error.strerror)
        done(b"")
        return
    try:
        output, _ = await asyncio.wait_for(child.communicate(stdin), longest_s)
        if child.returncode != 0:
            log.warning("%s ended with %s", command[-1], child.returncode)
            output = b""
    except TimeoutError:
        log.warning("%s took longer than %.0f s", command[-1], longest_s)
    finally:
        if child.returncode is None:
            with suppress(ProcessLookupError):
                child.kill()
            await child.wait()
    done(output)
