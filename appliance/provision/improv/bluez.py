"""Registers a GATT service and its advertisement with BlueZ over D-Bus; only it uses dbus-fast.

BlueZ (doc/org.bluez.GattManager.rst, LEAdvertisingManager) asks an application for its objects and
then calls them: reads and writes of a phone arrive as ReadValue and WriteValue. Calls of any sender
but BlueZ are refused. This module does not interpret the values.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from dbus_fast import BusType, DBusError, ErrorType, Message, MessageFlag, MessageType, Variant
from dbus_fast.aio import MessageBus

from appliance.errors import BluetoothError

NAME = "org.bluez"
ROOT = "/org/interlude/improv"
SERVICE_PATH, ADVERTISEMENT = f"{ROOT}/service", f"{ROOT}/advertisement"
_MANAGER, _PROPERTIES = "org.freedesktop.DBus.ObjectManager", "org.freedesktop.DBus.Properties"
_ADAPTER, _GATT, _ADVERTISING = (
    "org.bluez.Adapter1", "org.bluez.GattManager1", "org.bluez.LEAdvertisingManager1",
)  # fmt: skip
_SERVICE, _CHARACTERISTIC, _LE_ADVERTISEMENT = (
    "org.bluez.GattService1", "org.bluez.GattCharacteristic1", "org.bluez.LEAdvertisement1",
)  # fmt: skip
_OWNER_CHANGED = (
    f"type='signal',sender='org.freedesktop.DBus',member='NameOwnerChanged',arg0='{NAME}'"
)
MOST_VALUE = 512  # bytes of an attribute (Bluetooth Core 5.4, Vol 3 Part F 3.2.9)

log = logging.getLogger("improv")


@dataclass(frozen=True)
class Characteristic:
    """A GATT characteristic. `flags`: BlueZ's names: read, write, notify."""

    uuid: str
    flags: tuple[str, ...]


@dataclass(frozen=True)
class Peripheral:
    """A GATT service and its advertisement. `data_uuid`: UUID of the advertised service data."""

    uuid: str
    name: str
    data_uuid: str
    characteristics: tuple[Characteristic, ...]


class Values(Protocol):
    """The source of the characteristics' values. No method blocks. `write` returns the UUIDs of the
    characteristics that contain its reply."""

    def read(self, uuid: str) -> bytes: ...
    def write(self, uuid: str, data: bytes, phone: str, mtu: int) -> tuple[str, ...]: ...
    def data(self) -> bytes: ...


class BluezPeripheral:
    """A peripheral at BlueZ's first usable adapter."""

    def __init__(self, peripheral: Peripheral, values: Values, address: str = "") -> None:
        self._peripheral, self._values = peripheral, values
        self._bus = (
            MessageBus(bus_address=address) if address else MessageBus(bus_type=BusType.SYSTEM)
        )
        self._paths = {
            f"{SERVICE_PATH}/char{number}": characteristic
            for number, characteristic in enumerate(peripheral.characteristics)
        }
        self._sent_values: dict[str, bytes] = {}  # last value sent to phones, by path
        self._notifying: set[str] = set()
        self._owner = self._adapter = ""
        self._powered = False  # whether this process powered the adapter on
        self._alias_before: str | None = None  # of the adapter; None: it was not changed
        self.gone = False  # BlueZ has ended or restarted, or has released the advertisement

    async def start(self) -> None:
        """Register service and advertisement. Raises BluetoothError if there is no Bluetooth."""
        try:
            await self._bus.connect()
        except (OSError, DBusError, EOFError) as error:
            raise BluetoothError(f"The system's bus cannot be asked ({error}).") from error
        self._bus.add_message_handler(self._handle)
        objects = (await self._call("/", _MANAGER, "GetManagedObjects"))[0]
        self._owner = (await self._call_bus("GetNameOwner", "s", [NAME]))[0]
        await self._call_bus("AddMatch", "s", [_OWNER_CHANGED])
        for path, interfaces in sorted(objects.items()):
            if _GATT in interfaces and _ADVERTISING in interfaces:
                self._adapter = path
                adapter = interfaces.get(_ADAPTER, {})
                properties = {key: variant.value for key, variant in adapter.items()}
                break
        else:
            raise BluetoothError("This machine has no Bluetooth that BlueZ can use.")
        if not properties.get("Powered"):
            await self._power(on=True)
        with contextlib.suppress(BluetoothError):  # for display only: apps find the service's UUID
            await self._set_alias(self._peripheral.name)
            # "" restores BlueZ's default name. If our name is already set, it is left over from a
            # process that was killed, or whose BlueZ ended: BlueZ stores an alias.
            alias = str(properties.get("Alias", ""))
            self._alias_before = (
                "" if alias in (properties.get("Name"), self._peripheral.name) else alias
            )
        await self._call(self._adapter, _GATT, "RegisterApplication", "oa{sv}", [ROOT, {}])
        await self._call(
            self._adapter, _ADVERTISING, "RegisterAdvertisement", "oa{sv}", [ADVERTISEMENT, {}]
        )
        self._sent_values = {path: self._value(path) for path in (*self._paths, ADVERTISEMENT)}

    def refresh(self, answers: Collection[str] = ()) -> None:
        """Send changed values: notifications to connected phones, and new advertisement data.

        `answers`: UUIDs that are sent even if unchanged, so that each request has a reply."""
        for path in (*self._paths, ADVERTISEMENT):
            value = self._value(path)
            forced = path in self._paths and self._paths[path].uuid in answers
            if value == self._sent_values.get(path) and not forced:
                continue
            self._sent_values[path] = value
            if path == ADVERTISEMENT:
                self._signal(path, _LE_ADVERTISEMENT, {"ServiceData": self._service_data()})
            elif path in self._notifying:
                self._signal(path, _CHARACTERISTIC, {"Value": Variant("ay", value)})

    async def close(self) -> None:
        """Unregister, and restore the adapter's alias and power."""
        if not self._bus.connected:
            return
        if self._adapter:
            for interface, member, path in (
                (_ADVERTISING, "UnregisterAdvertisement", ADVERTISEMENT),
                (_GATT, "UnregisterApplication", ROOT),
            ):
                with contextlib.suppress(BluetoothError):  # BlueZ may be gone, or have refused it
                    await self._call(self._adapter, interface, member, "o", [path])
        with contextlib.suppress(BluetoothError):
            if self._alias_before is not None:
                await self._set_alias(self._alias_before)
        with contextlib.suppress(BluetoothError):
            if self._powered:
                await self._power(on=False)
        self._bus.disconnect()

    # ── calls to BlueZ
    async def _power(self, *, on: bool) -> None:
        await self._set("Powered", Variant("b", on))
        self._powered = on

    async def _set_alias(self, name: str) -> None:
        """Set the GAP device name, which a connected phone reads; its default is BlueZ's name."""
        await self._set("Alias", Variant("s", name))

    async def _set(self, name: str, value: Variant) -> None:
        await self._call(self._adapter, _PROPERTIES, "Set", "ssv", [_ADAPTER, name, value])

    async def _call(
        self, path: str, interface: str, member: str, signature: str = "", body: Any = ()
    ) -> list[Any]:
        """Raises BluetoothError."""
        return await self._call_message(
            Message(destination=NAME, path=path, interface=interface, member=member,
                    signature=signature, body=list(body))
        )  # fmt: skip

    async def _call_bus(self, member: str, signature: str, body: list[Any]) -> list[Any]:
        return await self._call_message(
            Message(destination="org.freedesktop.DBus", path="/org/freedesktop/DBus",
                    interface="org.freedesktop.DBus", member=member, signature=signature, body=body)
        )  # fmt: skip

    async def _call_message(self, message: Message) -> list[Any]:
        try:
            reply = await self._bus.call(message)
        except (OSError, EOFError, DBusError) as error:
            raise BluetoothError(f"BlueZ cannot be asked ({error}).") from error
        if reply.message_type is not MessageType.METHOD_RETURN:
            why = f"{reply.error_name}: {reply.body}"
            raise BluetoothError(f"BlueZ refuses {message.member} ({why}).")
        return list(reply.body)

    def _signal(self, path: str, interface: str, changed: dict[str, Variant]) -> None:
        self._bus.send(
            Message.new_signal(path, _PROPERTIES, "PropertiesChanged", "sa{sv}as",
                               [interface, changed, []])
        )  # fmt: skip

    # ── calls from BlueZ
    def _handle(self, message: Message) -> Message | bool:
        if message.member == "NameOwnerChanged" and message.sender == "org.freedesktop.DBus":
            self.gone = self.gone or message.body[:1] == [NAME]
            return False
        if message.message_type is not MessageType.METHOD_CALL or not message.path:
            return False
        if not message.path.startswith(ROOT):
            return False
        reply = self._reply(message)
        if message.flags & MessageFlag.NO_REPLY_EXPECTED:
            return True  # the bus refuses an unrequested reply, and logs it
        return reply

    def _reply(self, message: Message) -> Message:
        if message.sender != self._owner:
            return Message.new_error(message, ErrorType.ACCESS_DENIED.value, "only BlueZ may call")
        try:
            signature, body = self._dispatch(message)
        except (KeyError, ValueError, IndexError, TypeError) as error:
            log.warning("invalid call of BlueZ: %s %s", message.member, error)
            return Message.new_error(
                message, "org.bluez.Error.Failed", "no such object, value or call"
            )
        return Message.new_method_return(message, signature, body)

    def _dispatch(self, message: Message) -> tuple[str, list[Any]]:
        """Handle a call; return signature and body of the reply. Raises KeyError, ValueError,
        IndexError or TypeError for an invalid one."""
        path, body = str(message.path), message.body
        match (message.interface, message.member):
            case (interface, "GetManagedObjects") if interface == _MANAGER:
                return "a{oa{sa{sv}}}", [{
                    SERVICE_PATH: {_SERVICE: self._properties(SERVICE_PATH)},
                    **{each: {_CHARACTERISTIC: self._properties(each)} for each in self._paths},
                }]  # fmt: skip
            case (interface, "GetAll") if interface == _PROPERTIES:
                return "a{sv}", [self._properties(path)]
            case (interface, "Get") if interface == _PROPERTIES:
                return "v", [self._properties(path)[body[1]]]
            case (interface, "ReadValue") if interface == _CHARACTERISTIC:
                return "ay", [self._value(path)[_option(body[0], "offset", 0) :]]
            case (interface, "WriteValue") if interface == _CHARACTERISTIC:
                self._write(path, bytes(body[0]), body[1])
                return "", []
            case (interface, "StartNotify") if interface == _CHARACTERISTIC:
                self._notifying.add(self._notifiable(path))
                return "", []
            case (interface, "StopNotify") if interface == _CHARACTERISTIC:
                self._notifying.discard(self._notifiable(path))
                return "", []
            case (interface, "Release") if interface == _LE_ADVERTISEMENT:
                self.gone = True  # happens if the controller is removed
                return "", []
        raise KeyError(f"{message.interface}.{message.member}")

    def _write(self, path: str, data: bytes, options: Mapping[str, Variant]) -> None:
        characteristic = self._paths[path]
        if (
            "write" not in characteristic.flags
            or len(data) > MOST_VALUE
            or _option(options, "offset", 0)
        ):
            raise ValueError(characteristic.uuid)
        phone = options.get("device")
        mtu = _option(options, "mtu", 0)
        self.refresh(
            self._values.write(characteristic.uuid, data, str(phone.value) if phone else "", mtu)
        )

    def _notifiable(self, path: str) -> str:
        if "notify" not in self._paths[path].flags:
            raise ValueError(path)
        return path

    def _value(self, path: str) -> bytes:
        if path == ADVERTISEMENT:
            return self._values.data()
        characteristic = self._paths[path]
        return self._values.read(characteristic.uuid) if "read" in characteristic.flags else b""

    def _service_data(self) -> Variant:
        return Variant("a{sv}", {self._peripheral.data_uuid: Variant("ay", self._values.data())})

    def _properties(self, path: str) -> dict[str, Variant]:
        if path == SERVICE_PATH:
            return {"UUID": Variant("s", self._peripheral.uuid), "Primary": Variant("b", True)}
        if path == ADVERTISEMENT:
            return {
                "Type": Variant("s", "peripheral"),
                "ServiceUUIDs": Variant("as", [self._peripheral.uuid]),
                "ServiceData": self._service_data(),
                "LocalName": Variant("s", self._peripheral.name),
                "Discoverable": Variant("b", True),
            }
        characteristic = self._paths[path]
        return {
            "UUID": Variant("s", characteristic.uuid),
            "Service": Variant("o", SERVICE_PATH),
            "Flags": Variant("as", list(characteristic.flags)),
        }


def _option(options: Mapping[str, Variant], name: str, default: int) -> int:
    found = options.get(name)
    return int(found.value) if found is not None else default
