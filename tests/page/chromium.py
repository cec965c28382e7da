"""A real browser for tests: Debian's Chromium, controlled through a pipe.

It speaks the Chrome DevTools Protocol over descriptors 3 and 4 (`--remote-debugging-pipe`): JSON
messages, each ended by a zero byte. It needs no driver and no package.
"""

from __future__ import annotations

import atexit
import base64
import contextlib
import functools
import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any, Self

import pytest

from tests.skips import BROWSER

# The first that exists. The one without windows takes 0.6 of the other's processor time.
# /usr/bin/chromium is a wrapper script.
PROGRAMS = ("/usr/lib/chromium/chromium-headless-shell", "/usr/lib/chromium/chromium")
FLAGS = """--headless --no-sandbox --disable-gpu --disable-quic --no-first-run
--disable-background-networking --disable-component-update --disable-sync --disable-dev-shm-usage
--disable-extensions --no-default-browser-check --remote-debugging-pipe""".split()
PATIENCE_S = 60.0  # on a very busy machine
LOOK_S = 0.02  # between two evaluations in `until`: each costs a message both ways
# The error of a command during which the page was replaced by the next one.
NAVIGATED = "Inspected target navigated or closed"


class Navigated(AssertionError):
    """The page was replaced by the next one during a command."""


def program() -> str:
    """The path of the browser. Skips the test if there is none."""
    found = next((each for each in PROGRAMS if Path(each).exists()), None)
    if found is None:
        pytest.skip(BROWSER)
    return found


class Program:
    """A running Chromium with its own profile, which `end` deletes."""

    def __init__(self) -> None:
        path = program()  # first: it may skip the test
        self._data = b""
        self._number = 0
        self._profile = tempfile.mkdtemp(prefix="interlude-chromium-")
        theirs_read, self._write = os.pipe()
        self._read, theirs_write = os.pipe()
        # Chromium prescribes descriptors 3 and 4; a shell redirects the pipes to them.
        command = f'exec {path} "$@" 3<&{theirs_read} 4>&{theirs_write}'
        profile = f"--user-data-dir={self._profile}"
        self._process = subprocess.Popen(
            ["bash", "-c", command, "chromium", *FLAGS, profile, "about:blank"],
            pass_fds=(theirs_read, theirs_write),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        os.close(theirs_read)
        os.close(theirs_write)

    @property
    def runs(self) -> bool:
        return self._process.poll() is None

    def end(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        os.close(self._write)
        os.close(self._read)
        shutil.rmtree(self._profile, ignore_errors=True)

    def send(self, method: str, words: dict[str, Any], session: str) -> int:
        """Send a command to the browser, or to the page of this session. Returns its number."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": words}
        if session:
            message["sessionId"] = session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        return self._number

    def next(self) -> dict[str, Any]:
        """The next message of the browser."""
        while b"\0" not in self._data:
            readable, _, _ = select.select([self._read], [], [], PATIENCE_S)
            assert readable, "no message of the browser in time"
            piece = os.read(self._read, 1 << 20)
            assert piece, "the browser has closed the pipe"
            self._data += piece
        line, _, self._data = self._data.partition(b"\0")
        message: dict[str, Any] = json.loads(line)
        return message


@functools.cache
def _shared_programs() -> list[Program]:
    """The running browser, if any: shared by all tests, since its start takes longer than most."""
    programs: list[Program] = []

    def end() -> None:
        for program in programs:
            program.end()

    atexit.register(end)
    return programs


def running() -> Program:
    programs = _shared_programs()
    if programs and not programs[0].runs:
        programs.pop().end()
    if not programs:
        programs.append(Program())
    return programs[0]


class Chromium:
    """One page with its own cookies and cache. `errors`: those of its console."""

    def __init__(self, width: int = 1280, *, dark: bool = False) -> None:
        self.errors: list[str] = []
        self._program = running()
        self._session = ""
        self._context = self.tell("Target.createBrowserContext")["browserContextId"]
        made = self.tell("Target.createTarget", url="about:blank", browserContextId=self._context)
        attached = self.tell("Target.attachToTarget", targetId=made["targetId"], flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.tell(f"{domain}.enable")
        self.tell(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=800, deviceScaleFactor=1, mobile=width < 600,
        )  # fmt: skip
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.tell("Emulation.setEmulatedMedia", features=[scheme])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._session = ""
        if self._program.runs:
            self.tell("Target.disposeBrowserContext", browserContextId=self._context)

    def tell(self, method: str, **words: Any) -> dict[str, Any]:
        """Send one command of the protocol; returns its result. Raises Navigated."""
        number = self._program.send(method, words, self._session)
        while True:
            message = self._program.next()
            if message.get("id") == number:
                if message.get("error", {}).get("message") == NAVIGATED:
                    raise Navigated(message)
                assert "error" not in message, message
                found: dict[str, Any] = message["result"]
                return found
            if message.get("sessionId") == self._session:
                self._note(message)

    def run(self, script: str) -> Any:
        """Evaluate a JavaScript expression in the page and return its value."""
        found = self.tell("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def open(self, place: str) -> None:
        self.tell("Page.navigate", url=place)
        self.until(f"document.readyState === 'complete' && location.href.startsWith('{place}')")

    def until(self, script: str) -> Any:
        """Wait until the expression is true, in this page or the next; fails after PATIENCE_S."""
        end_s = time.monotonic() + PATIENCE_S
        while True:
            with contextlib.suppress(Navigated):
                if found := self.run(script):
                    return found
            assert time.monotonic() < end_s, f"it never became true: {script}"
            time.sleep(LOOK_S)

    def press(self, key: str) -> None:
        """Press and release a key."""
        code = {"Tab": 9, "Enter": 13, "ArrowLeft": 37, " ": 32}[key]
        text = {"Enter": "\r", " ": " "}.get(key, "")
        words = {"key": key, "windowsVirtualKeyCode": code, "text": text}
        self.tell("Input.dispatchKeyEvent", type="keyDown", **words)
        self.tell("Input.dispatchKeyEvent", type="keyUp", **words)

    def type(self, text: str) -> None:
        self.tell("Input.insertText", text=text)

    def picture(self, file: Path) -> None:
        """Save a screenshot of the whole page as PNG."""
        made = self.tell("Page.captureScreenshot", captureBeyondViewport=True)
        file.write_bytes(base64.b64decode(made["data"]))

    def _note(self, message: dict[str, Any]) -> None:
        if message.get("method") == "Runtime.exceptionThrown":
            self.errors.append(message["params"]["exceptionDetails"]["text"])
        entry = message.get("params", {}).get("entry", {})
        if message.get("method") == "Log.entryAdded" and entry.get("level") == "error":
            self.errors.append(f"{entry['text']} {entry.get('url', '')}")
