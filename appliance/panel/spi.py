"""Writes bytes to a Linux SPI device; the only module that uses spidev. Nothing is read back."""

from __future__ import annotations

import fcntl
import os
import struct

from appliance.errors import PanelError

# linux/spi/spidev.h: _IOW('k', 1, __u8) and _IOW('k', 4, __u32)
_WR_MODE, _WR_MAX_SPEED_HZ = 0x40016B01, 0x40046B04
MODE_0 = 0  # the clock idles low, data is sampled at its rising edge


class SpiBus:
    """A device such as /dev/spidev0.0. Raises PanelError if it cannot be opened."""

    def __init__(self, path: str, speed_hz: int) -> None:
        try:
            self._fd = _opened(path, speed_hz)
        except OSError as error:
            raise PanelError(
                f"The strip's bus {path} cannot be used ({error.strerror}).",
                "Is `dtparam=spi=on` in config.txt, and the box's user in group `gpio`?",
            ) from error

    def write(self, data: bytes) -> None:
        """Write in one transfer; the driver takes 4096 bytes at most. Raises OSError."""
        os.write(self._fd, data)

    def close(self) -> None:
        os.close(self._fd)


def _opened(path: str, speed_hz: int) -> int:
    """Open and configure the device; returns its descriptor. Raises OSError, with nothing open."""
    fd = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    try:
        fcntl.ioctl(fd, _WR_MODE, struct.pack("=B", MODE_0))
        fcntl.ioctl(fd, _WR_MAX_SPEED_HZ, struct.pack("=I", speed_hz))
    except OSError:
        os.close(fd)
        raise
    return fd
