"""Makes the docs' pictures of the page while a box plays the demo: `python -m tests.page.pictures`.

Writes docs/page.webp (the live view during the demo, desktop size) and docs/page-*.webp (phone
size, dark). The simulated room, the box and the browser run as real programs; nothing is staged.
"""

from __future__ import annotations

import base64
import tempfile
import threading
from pathlib import Path

from appliance.pcm import RATE_HZ
from appliance.settings import load_defaults
from lab.sim import rehearsal_cli, scene
from lab.sim.demo_page import demo_page
from lab.sim.rehearsal import Rehearsal
from tests.page.chromium import Chromium
from tests.page.test_browser import COLOURS

DOCS = Path(__file__).parents[2] / "docs"
DESK, PHONE = (1040, 745), (360, 740)
# The owner's utterance after which the picture is taken: by then the demo has shown two answers, a
# backchannel, a cough and a correction.
SPOKEN = 5
LATER_S = 2.0  # after the utterance, when the box speaks again
PHONE_PAGES = (("live", ""), ("settings", "set"), ("try", "try"), ("box", "own"))


class Photographer(threading.Thread):
    """Pairs a browser by the printed digits; takes the pictures when `now` is set."""

    def __init__(self, address: str, digits: str, folder: Path) -> None:
        super().__init__()
        self._address, self._digits, self._folder = address, digits, folder
        self.ready, self.now = threading.Event(), threading.Event()
        self.stopped = False

    def run(self) -> None:
        with Chromium(DESK[0]) as browser:
            browser.open(self._address + "/")
            browser.until("document.activeElement?.name === 'code'")
            browser.type(self._digits)
            browser.press("Enter")
            browser.until("document.querySelector('#picture') !== null")
            browser.tell("Emulation.setScrollbarsHidden", hidden=True)
            shape(browser, *DESK, dark=False)
            browser.until("document.querySelector('#hint').hidden")
            self.ready.set()
            self.now.wait()
            if not self.stopped:
                save(browser, DOCS / "page.webp", DESK)
            shape(browser, *PHONE, dark=True)
            for name, path in PHONE_PAGES:
                browser.open(f"{self._address}/{path}")
                if name == "live":
                    browser.until(f"document.querySelector('#hint').hidden && {COLOURS} > 20")
                save(browser, DOCS / f"page-{name}.webp", PHONE)


def shape(browser: Chromium, width: int, height: int, *, dark: bool) -> None:
    browser.tell(
        "Emulation.setDeviceMetricsOverride",
        width=width, height=height, deviceScaleFactor=1, mobile=width < 600,
    )  # fmt: skip
    scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    browser.tell("Emulation.setEmulatedMedia", features=[scheme])


def save(browser: Chromium, file: Path, size: tuple[int, int]) -> None:
    """Save the visible part of the page."""
    clip = {"x": 0, "y": 0, "width": size[0], "height": size[1], "scale": 1}
    made = browser.tell("Page.captureScreenshot", format="webp", quality=82, clip=clip)
    file.write_bytes(base64.b64decode(made["data"]))
    print(f"{file.name}: {file.stat().st_size / 1000:.0f} kB")


def main() -> None:
    folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
    with folder as place, demo_page(load_defaults(), print) as page:
        photographer = Photographer(page.address, page.digits, Path(place))

        def during(rehearsal: Rehearsal) -> None:
            page.print_address(rehearsal)
            if rehearsal.supervisor.is_ready and photographer.ident is None:
                photographer.start()
                photographer.ready.wait(60)  # from now on the picture shows the conversation
            said = rehearsal.recording.said[SPOKEN - 1 :]
            if said and rehearsal.card.now() > said[0].end + LATER_S * RATE_HZ:
                photographer.now.set()

        try:
            rehearsal_cli.perform(
                scene.load(rehearsal_cli.DEMO), page.settings, during=during,
                environment=page.environment,
            )  # fmt: skip
        finally:
            photographer.stopped = not photographer.now.is_set()
            photographer.now.set()
            photographer.join()


if __name__ == "__main__":
    main()
