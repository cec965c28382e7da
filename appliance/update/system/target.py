"""The machine that a system is tried on: which slot runs, what it is, and how to start anew."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Protocol

from appliance.errors import StorageError
from appliance.runtime import status
from appliance.update.release.target import InstallTarget, SystemdTarget
from appliance.update.system.slot import SlotName, named

COMMAND_LINE = Path("/proc/cmdline")
FIRMWARE = Path("/dev/vcio")  # of Raspberry Pi's own kernel, which passes a restart's words on
WORDS = Path("/run/systemd/reboot-param")  # what the kernel is told with a restart, as by HAOS
START = Path("/run/interlude-start")  # what the first program of this start says of it
RELEASE = Path("/usr/lib/os-release")


class SystemTarget(InstallTarget, Protocol):
    """What an update of the system asks of it, beside what a release asks."""

    def slot(self) -> SlotName | None: ...
    def version(self) -> str | None: ...
    def supports_tryboot(self) -> bool: ...
    def reboot(self, *, trial: bool) -> None: ...


class PiTarget(SystemdTarget):
    """The real one."""

    def __init__(
        self,
        runtime: Path = status.FOLDER,
        systemctl: str = "systemctl",
        command_line: Path = COMMAND_LINE,
        release: Path = RELEASE,
        start: Path = START,
        firmware: Path = FIRMWARE,
        words: Path = WORDS,
    ) -> None:
        super().__init__(runtime, systemctl)
        self._command_line, self._release = command_line, release
        self._start, self._firmware, self._words = start, firmware, words

    def slot(self) -> SlotName | None:
        """The slot that runs; None on a machine without slots.

        The kernel is told one; where that one's root cannot be used, the first program takes the
        other's, and says so.
        """
        try:
            taken = (self._start / "slot").read_text(encoding="ascii").strip()
        except (OSError, UnicodeDecodeError):
            return named(self._command_line.read_text(encoding="utf-8", errors="replace"))
        return named(f"interlude.slot={taken}")

    def version(self) -> str | None:
        return version(self._release)

    def supports_tryboot(self) -> bool:
        """Whether this kernel can ask the firmware for a trial. Debian's cannot: there the words of
        a restart are lost (raspberrypi/rpi-eeprom, issue 716), and the old slot starts."""
        return self._firmware.exists()

    def reboot(self, *, trial: bool) -> None:
        """Stop everything in order and start; with `trial` the other slot, once.

        The words for the firmware go where systemd looks for them at its end: `0 tryboot` is the
        one-shot flag (raspberrypi.com/documentation, config.txt, "tryboot"). systemd itself is
        asked, and not logind: it takes root's word without a capability. Raises StorageError.
        """
        try:
            if trial:
                self._words.write_text("0 tryboot\n", encoding="ascii")
            else:
                self._words.unlink(missing_ok=True)
        except OSError as error:
            problem = f"{self._words}: cannot be written ({error.strerror})."
            raise StorageError(problem, "Are you root?") from error
        self._systemd("start", "--no-block", "--job-mode=replace-irreversibly", "reboot.target")


def version(release: Path = RELEASE) -> str | None:
    """Of the system that runs; None if it is not one of our images (os-release(5))."""
    try:
        text = release.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    said = dict(re.findall(r'^(\w+)="?([^"\n]*)"?$', text, re.MULTILINE))
    return said.get("IMAGE_VERSION") if said.get("IMAGE_ID") == "interlude" else None


def runs_from(slot: SlotName | None) -> SlotName:
    """The slot that runs, where there has to be one. Raises StorageError."""
    if slot is None:
        problem = "This machine was not started from a card of ours: it has no system slots."
        raise StorageError(problem, "Systems are updated by apt there.")
    return slot
