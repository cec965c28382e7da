"""The machine on which a system is updated: the running slot, its version, and the reboot."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Protocol

from appliance.errors import StorageError
from appliance.update.release.target import InstallTarget, SystemdTarget
from appliance.update.system.slot import SlotName, named

COMMAND_LINE = Path("/proc/cmdline")
FIRMWARE = Path("/dev/vcio")  # of Raspberry Pi's kernel, which passes the reboot argument on
WORDS = Path("/run/systemd/reboot-param")  # the reboot argument of the kernel; HAOS uses it too
START = Path("/run/interlude-start")  # state of this boot, written by its first program
RELEASE = Path("/usr/lib/os-release")


class SystemTarget(InstallTarget, Protocol):
    """The operations of the machine that a system update needs, besides those of a release."""

    def slot(self) -> SlotName | None: ...
    def version(self) -> str | None: ...
    def supports_tryboot(self) -> bool: ...
    def reboot(self, *, trial: bool) -> None: ...


class PiTarget(SystemdTarget):
    """The Raspberry Pi on which this process runs."""

    def __init__(
        self,
        systemctl: str = "systemctl",
        command_line: Path = COMMAND_LINE,
        release: Path = RELEASE,
        start: Path = START,
        firmware: Path = FIRMWARE,
        reboot_argument: Path = WORDS,
    ) -> None:
        super().__init__(systemctl)
        self._command_line, self._release = command_line, release
        self._start, self._firmware, self._reboot_argument = start, firmware, reboot_argument

    def slot(self) -> SlotName | None:
        """The slot that runs; None on a machine without slots.

        The kernel command line names it. If its root cannot be used, the first program mounts the
        root of the other slot and notes that in the folder `start`.
        """
        try:
            taken = (self._start / "slot").read_text(encoding="ascii").strip()
        except (OSError, UnicodeDecodeError):
            return named(self._command_line.read_text(encoding="utf-8", errors="replace"))
        return named(f"interlude.slot={taken}")

    def version(self) -> str | None:
        return version(self._release)

    def supports_tryboot(self) -> bool:
        """Whether this kernel can ask the firmware for a trial. Debian's cannot: it drops the
        reboot argument (raspberrypi/rpi-eeprom, issue 716), so the old slot starts."""
        return self._firmware.exists()

    def reboot(self, *, trial: bool) -> None:
        """Reboot in order; with `trial` into the other slot, once.

        The argument for the firmware goes into the file that systemd reads at the end of its
        shutdown: `0 tryboot` is the one-shot flag (raspberrypi.com/documentation, config.txt,
        "tryboot"). The request goes to systemd and not to logind, since systemd accepts it from
        root without a capability. Raises StorageError.
        """
        try:
            if trial:
                self._reboot_argument.write_text("0 tryboot\n", encoding="ascii")
            else:
                self._reboot_argument.unlink(missing_ok=True)
        except OSError as error:
            problem = f"{self._reboot_argument}: cannot be written ({error.strerror})."
            raise StorageError(problem, "Are you root?") from error
        self._systemd("start", "--no-block", "--job-mode=replace-irreversibly", "reboot.target")


def version(release: Path = RELEASE) -> str | None:
    """The version of the running system; None if it is not one of our images (os-release(5))."""
    try:
        text = release.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    values = dict(re.findall(r'^(\w+)="?([^"\n]*)"?$', text, re.MULTILINE))
    return values.get("IMAGE_VERSION") if values.get("IMAGE_ID") == "interlude" else None


def runs_from(slot: SlotName | None) -> SlotName:
    """Return `slot`. Raises StorageError for None, a machine without slots."""
    if slot is None:
        problem = "This machine was not started from a card of ours: it has no system slots."
        raise StorageError(problem, "Systems are updated by apt there.")
    return slot
