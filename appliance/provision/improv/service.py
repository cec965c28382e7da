"""The process of `interlude system improv`: set-up by a phone's app, as long as the set-up lasts.

Runs as the user of the set-up page, without network access: it can reach only BlueZ, by the system
bus, and the set-up session, by a folder in memory.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable
from pathlib import Path

from appliance import __version__
from appliance.errors import BluetoothError
from appliance.provision.improv import packets
from appliance.provision.improv.bluez import BluezPeripheral, Characteristic, Peripheral
from appliance.provision.improv.session import ImprovFolders, ImprovSession, wanted
from appliance.provision.setup_access import read_access

LOOK_S = 0.5
AGAIN_S = 60.0  # without Bluetooth, the process ends after it, and its path unit starts a new one
NAME = "Interlude"
MODEL = Path("/proc/device-tree/model")
PERIPHERAL = Peripheral(
    packets.SERVICE,
    NAME,
    packets.SERVICE_DATA,
    (
        Characteristic(packets.STATE, ("read", "notify")),
        Characteristic(packets.ERROR, ("read", "notify")),
        Characteristic(packets.COMMAND, ("write",)),
        Characteristic(packets.RESULT, ("read", "notify")),
        Characteristic(packets.CAPABILITIES, ("read",)),
    ),
)

log = logging.getLogger("improv")


class ImprovValues:
    """The values of a session's characteristics for BlueZ: bytes by UUID."""

    def __init__(self, session: ImprovSession, now_s: Callable[[], float]) -> None:
        self._session, self._now_s = session, now_s

    def read(self, uuid: str) -> bytes:
        """The value of a characteristic. Raises KeyError for one that cannot be read."""
        device = self._session.device
        return {
            packets.STATE: bytes([device.state(self._now_s())]),
            packets.ERROR: bytes([device.problem]),
            packets.RESULT: device.result,
            packets.CAPABILITIES: bytes([packets.ALL]),
        }[uuid]

    def write(self, uuid: str, data: bytes, phone: str, mtu: int) -> tuple[str, ...]:
        """Write a characteristic; return the UUIDs of those that contain the reply. Raises KeyError
        for one that cannot be written."""
        if uuid != packets.COMMAND:
            raise KeyError(uuid)
        try:
            self._session.write(data, self._now_s(), phone, mtu)
        except OSError as error:
            log.warning("a phone's request cannot be written (%s)", error.strerror)
        return self._session.device.answered

    def data(self) -> bytes:
        return packets.service_data(self._session.device.state(self._now_s()))


def serve(
    folders: ImprovFolders | None = None, address: str = "", again_s: float = AGAIN_S
) -> None:
    """Serve until the end of the set-up. Without Bluetooth, wait for its end for at most `again_s`,
    since the page still works. `address`: of a D-Bus other than the system bus."""
    asyncio.run(_served(folders or ImprovFolders(), address, again_s))


async def _served(folders: ImprovFolders, address: str, again_s: float) -> None:
    try:
        await serve_session(folders, address)
    except BluetoothError as error:
        log.warning("no set-up by Bluetooth: %s", error)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(_until(lambda: read_access(folders.root) is None), again_s)


async def serve_session(
    folders: ImprovFolders, address: str = "", now_s: Callable[[], float] = time.monotonic
) -> None:
    """Serve a session, once the set-up allows one; return at its end. Raises BluetoothError."""

    def decided() -> bool:
        access = read_access(folders.root)
        return access is None or wanted(access) is not None

    await _until(decided)
    if read_access(folders.root) is None:
        return
    session = ImprovSession((NAME, __version__, hardware(), NAME), folders, now_s())
    peripheral = BluezPeripheral(PERIPHERAL, ImprovValues(session, now_s), address)

    def over() -> bool:
        active = session.look(now_s())
        peripheral.refresh()
        return not active or peripheral.gone

    try:
        await peripheral.start()
        await _until(over)
        if peripheral.gone:
            raise BluetoothError("BlueZ ended, restarted, or released the advertisement.")
    finally:
        await peripheral.close()


async def _until(condition: Callable[[], bool]) -> None:
    """Wait until `true()` is true. It polls, since the files that it reads give no notification."""
    done, loop = asyncio.Event(), asyncio.get_running_loop()

    def look() -> None:
        if condition():
            done.set()
        elif not done.is_set():
            loop.call_later(LOOK_S, look)

    look()
    try:
        await done.wait()
    finally:
        done.set()  # ends the polling, also if this task is cancelled


def hardware(model: Path = MODEL) -> str:
    """The machine's model name; "Linux" if it has none."""
    try:
        return model.read_text(encoding="utf-8").strip("\0\n ") or "Linux"
    except (OSError, UnicodeDecodeError):
        return "Linux"
