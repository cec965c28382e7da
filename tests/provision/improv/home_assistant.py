"""Home Assistant's Improv client, with the stand-in for BlueZ in place of bleak."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from bleak import BleakClient
from bleak.backends.device import BLEDevice
from bleak.backends.scanner import AdvertisementData
from improv_ble_client import ImprovBLEClient, device_filter
from improv_ble_client import protocol as theirs

from tests.provision.improv.bluez_stand_in import BluezStandIn


class PhoneClient(ImprovBLEClient):
    """Home Assistant's client, connected to the stand-in."""

    def __init__(self, bluez: BluezStandIn) -> None:
        super().__init__(BLEDevice("AA:BB:CC:DD:EE:FF", "Interlude", None))
        self._bluez = bluez

    is_connected = True

    async def ensure_connected(self) -> None:
        if self._client is not None:
            return
        self._client = cast("BleakClient", self)
        self._disconnect_reason = None
        for uuid, handler in (
            (theirs.CHARACTERISTIC_UUID_ERROR, self._notification_handler),
            (theirs.CHARACTERISTIC_UUID_RPC_RESULT, self._rpc_result_handler),
            (theirs.CHARACTERISTIC_UUID_STATE, self._notification_handler),
        ):
            await self._bluez.start_notify(uuid, self._later(uuid, handler))
        found = await self.read_characteristic(theirs.CHARACTERISTIC_UUID_CAPABILITIES)
        self._capabilities = theirs.Capabilities(found)

    def _later(self, uuid: str, handler: Callable[..., Any]) -> Callable[[bytes], object]:
        named = type("Named", (), {"uuid": uuid})
        return lambda data: self._async_create_background_task(handler(named, data))

    async def read_gatt_char(self, uuid: str) -> bytes:
        return await self._bluez.read(uuid)

    async def write_gatt_char(self, uuid: str, data: bytes, response: bool) -> None:
        assert response
        for at in range(0, len(data), 20):
            await self._bluez.write(uuid, data[at : at + 20])

    async def disconnect(self) -> None:
        if self._disconnect_timer is not None:
            self._disconnect_timer.cancel()


def found_by_home_assistant(bluez: BluezStandIn) -> bool:
    assert bluez.advertised is not None
    data = bluez.advertised["ServiceData"].value
    seen = type("Seen", (), {
        "service_uuids": bluez.advertised["ServiceUUIDs"].value,
        "service_data": {uuid: bytes(each.value) for uuid, each in data.items()},
    })  # fmt: skip
    return device_filter(cast("AdvertisementData", seen))
