"""Enables the box's page during a demo, reachable from this machine only.

The digits that let a browser in are printed, since the loudspeaker is simulated. In: settings. Out:
settings with the page enabled, its environment, and sentences for the terminal.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from appliance.page import pairing
from appliance.runtime import settings_access
from appliance.runtime.listening_socket import try_listen
from appliance.settings import Settings
from lab.sim.rehearsal import Rehearsal

HOST = "127.0.0.1"


class DemoPage:
    """The page of a demo. `folder`: for a settings file that the page may change, in place of the
    owner's. `print_line`: prints a sentence."""

    def __init__(
        self, settings: Settings, folder: Path, print_line: Callable[[str], object]
    ) -> None:
        self.digits = pairing.draw_digits()
        port = _port(settings.page.port)
        page = msgspec.structs.replace(
            settings.page, enabled=True, listen=HOST, port=port, certificate="", key=""
        )
        self.settings = msgspec.structs.replace(settings, page=page)
        self.address = f"http://{HOST}:{port}"
        settings_file = folder / "settings.yaml"
        settings_file.touch()
        self.environment = {pairing.PRINTED: self.digits, settings_access.FILE: str(settings_file)}
        self._print_line, self._is_printed = print_line, False

    def print_address(self, rehearsal: Rehearsal) -> None:
        """Print the page's address once it is served."""
        if not self._is_printed and rehearsal.supervisor.is_ready:
            self._is_printed = True
            digits = pairing.spaced(self.digits)
            self._print_line(
                f"Its page: open {self.address} while it runs; the digits are {digits}."
            )

    def print_past_address(self) -> None:
        self._print_line(
            f"Its page was at {self.address}. `interlude run --page` serves it for longer."
        )


@contextlib.contextmanager
def demo_page(settings: Settings, print_line: Callable[[str], object]) -> Iterator[DemoPage]:
    with tempfile.TemporaryDirectory(prefix="interlude-demo-") as folder:
        yield DemoPage(settings, Path(folder), print_line)


def _port(preferred: int) -> int:
    """The port `preferred`, by default 8080, if it is free; else any free one."""
    for port in (preferred or 8080, 0):
        with contextlib.suppress(OSError), try_listen((HOST, port)) as found:
            return int(found.getsockname()[1])
    raise OSError("no port is free")
