"""Runs axe-core in a page of a test browser and returns its findings.

It runs in an isolated world (Page.createIsolatedWorld), so the page's content security policy and
scripts stay unchanged. The file is that of axe-core's npm package, unmodified (README.md there).
"""

from __future__ import annotations

import functools
import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.page.chromium import Chromium

FILE = Path(__file__).with_name("axe-core") / "axe.min.js"
SHA256 = "29348999450cdf2849a8e70b7912fc2da85a849da39c0d0d5394f51d4a9ed95c"  # 4.14.1
GRAVE = ("serious", "critical")
ASK = """axe.run(document, {resultTypes: ["violations"]}).then(found => found.violations.map(
  one => ({id: one.id, impact: one.impact, help: one.help,
           where: one.nodes.map(node => node.target.join(" "))})))"""


@dataclass(frozen=True)
class AxeFinding:
    """`impact`: minor, moderate, serious or critical. `where`: CSS selectors."""

    id: str
    impact: str
    help: str
    where: tuple[str, ...]

    @property
    def grave(self) -> bool:
        return self.impact in GRAVE


@functools.cache
def source() -> str:
    data = FILE.read_bytes()
    assert hashlib.sha256(data).hexdigest() == SHA256, f"{FILE} is not the reviewed file"
    return data.decode()


def findings(browser: Chromium) -> list[AxeFinding]:
    """Run all rules that are on by default: WCAG 2.0 to 2.2, A and AA, and best practices."""
    frame = browser.tell("Page.getFrameTree")["frameTree"]["frame"]["id"]
    world = browser.tell("Page.createIsolatedWorld", frameId=frame, worldName="axe")
    where: dict[str, Any] = {"contextId": world["executionContextId"]}
    browser.tell("Runtime.evaluate", expression=f"{source()}; undefined", **where)
    found = browser.tell(
        "Runtime.evaluate", expression=ASK, awaitPromise=True, returnByValue=True, **where
    )
    assert "exceptionDetails" not in found, found
    return [
        AxeFinding(one["id"], one["impact"] or "", one["help"], tuple(one["where"]))
        for one in found["result"]["value"]
    ]
