"""A private message bus with a service that behaves towards a GATT application like bluetoothd.

The service reads the application's objects, calls them on behalf of a phone and receives change
signals. It implements what doc/org.bluez.GattManager.rst and LEAdvertisingManager specify, and
sends no-reply calls where bluetoothd does. The real bluetoothd is tested in image/test/test_ble.py.
"""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from dbus_fast import Message, MessageFlag, MessageType, Variant
from dbus_fast.aio import MessageBus

from appliance.provision.improv.bluez import ADVERTISEMENT

ADAPTER = "/org/bluez/hci0"
PROPERTIES = "org.freedesktop.DBus.Properties"
CHARACTERISTIC = "org.bluez.GattCharacteristic1"
MANAGERS: dict[str, dict[str, Variant]] = {
    "org.bluez.GattManager1": {},
    "org.bluez.LEAdvertisingManager1": {},
}


@contextlib.contextmanager
def private_bus(folder: Path) -> Iterator[str]:
    """Start a message bus that only this test uses. Yields its address."""
    rules = folder / "bus.conf"
    rules.write_text(
        "<!DOCTYPE busconfig PUBLIC '-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN'"
        " 'http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd'><busconfig>"
        f"<listen>unix:path={folder}/bus</listen><auth>EXTERNAL</auth><policy context='default'>"
        "<allow send_destination='*' eavesdrop='false'/><allow own='*'/>"
        "<allow receive_sender='*'/><allow send_requested_reply='false' send_type='method_return'/>"
        "<allow receive_requested_reply='false' receive_type='method_return'/></policy></busconfig>"
    )
    with subprocess.Popen(
        ["dbus-daemon", f"--config-file={rules}", "--nofork", "--nopidfile", "--print-address=1"],
        stdout=subprocess.PIPE, text=True,
    ) as daemon:  # fmt: skip
        assert daemon.stdout is not None
        address = daemon.stdout.readline().strip()
        try:
            yield address
        finally:
            daemon.terminate()


class BluezStandIn:
    """`advertised`: the current properties of the advertisement, or None. `powered`: the state of
    the adapter. `refuses`: the name of the method that fails."""

    def __init__(self, address: str, *, adapter: bool = True, powered: bool = False) -> None:
        self._bus = MessageBus(bus_address=address)
        self.adapter, self.powered = adapter, powered
        self.alias = self.own_name = "BlueZ 5.82"
        self.refuses = ""
        self.application = ""  # unique bus name of the registered application
        self.objects: dict[str, dict[str, dict[str, Variant]]] = {}
        self.advertised: dict[str, Variant] | None = None
        self.notified: dict[str, Callable[[bytes], object]] = {}  # by UUID
        self.unasked = 0  # replies to no-reply calls; the system bus refuses and logs them
        self._silent: set[int] = set()  # serials of calls that expect no reply
        self._tasks: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        await self._bus.connect()
        self._bus.add_message_handler(self._answer)
        await self._bus.request_name("org.bluez")
        await self._bus.call(
            Message(destination="org.freedesktop.DBus", path="/org/freedesktop/DBus",
                    interface="org.freedesktop.DBus", member="AddMatch", signature="s",
                    body=["type='signal',interface='org.freedesktop.DBus.Properties'"])
        )  # fmt: skip

    def close(self) -> None:
        self._bus.disconnect()

    # ── the phone
    async def read(self, uuid: str) -> bytes:
        (value,) = await self._call(self._path(uuid), CHARACTERISTIC, "ReadValue", "a{sv}", [{}])
        return bytes(value)

    async def write(self, uuid: str, data: bytes, phone: str = "dev_AA", mtu: int = 185) -> None:
        options = {"device": Variant("o", f"{ADAPTER}/{phone}"), "mtu": Variant("q", mtu)}
        words = [data, options]
        await self._call(self._path(uuid), CHARACTERISTIC, "WriteValue", "aya{sv}", words)

    async def start_notify(self, uuid: str, callback: Callable[[bytes], object]) -> None:
        self.notified[uuid] = callback
        await self._tell(self._path(uuid), CHARACTERISTIC, "StartNotify")

    async def stop_notify(self, uuid: str) -> None:
        await self._tell(self._path(uuid), CHARACTERISTIC, "StopNotify")

    @property
    def uuids(self) -> set[str]:
        return {self._uuid(path) for path in self.objects}

    async def release(self) -> None:
        """Release the advertisement, as BlueZ does when the controller disappears."""
        await self._tell(ADVERTISEMENT, "org.bluez.LEAdvertisement1", "Release")

    # ── calls by applications
    def _answer(self, message: Message) -> Message | bool:
        if message.message_type is MessageType.SIGNAL:
            self._changed(message)
            return False
        if message.reply_serial in self._silent:
            self.unasked += 1
        if message.message_type is not MessageType.METHOD_CALL:
            return False
        if message.member == self.refuses:
            return Message.new_error(message, "org.bluez.Error.NotPermitted", "Maximum reached")
        match message.member:
            case "GetManagedObjects":
                mine = {"Powered": Variant("b", self.powered), "Name": Variant("s", self.own_name),
                        "Alias": Variant("s", self.alias)}  # fmt: skip
                about = {"org.bluez.Adapter1": mine, **MANAGERS}
                there: dict[str, Any] = {"/org/bluez": {}}
                return Message.new_method_return(
                    message, "a{oa{sa{sv}}}",
                    [there | ({ADAPTER: about} if self.adapter else {})],
                )  # fmt: skip
            case "Set" if message.body[1] == "Powered":
                self.powered = message.body[2].value
            case "Set":
                self.alias = message.body[2].value or self.own_name
            case "RegisterApplication" | "RegisterAdvertisement":
                task = asyncio.ensure_future(self._register(message))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
                return True
            case "UnregisterApplication":
                self.objects.clear()
            case "UnregisterAdvertisement":
                self.advertised = None
            case _:
                return False
        return Message.new_method_return(message)

    async def _register(self, message: Message) -> None:
        """Read the objects or properties of the application, then reply to its registration."""
        assert message.sender
        self.application, path = message.sender, message.body[0]
        if message.member == "RegisterApplication":
            manager = "org.freedesktop.DBus.ObjectManager"
            (self.objects,) = await self._call(path, manager, "GetManagedObjects")
        else:
            words = ["org.bluez.LEAdvertisement1"]
            (self.advertised,) = await self._call(path, PROPERTIES, "GetAll", "s", words)
        self._bus.send(Message.new_method_return(message))

    def _changed(self, message: Message) -> None:
        if message.member != "PropertiesChanged" or message.sender != self.application:
            return
        _, changed, _ = message.body
        if self.advertised is not None and message.path not in self.objects:
            self.advertised.update(changed)
        elif "Value" in changed and (callback := self.notified.get(self._uuid(str(message.path)))):
            callback(bytes(changed["Value"].value))

    async def _tell(self, path: str, interface: str, member: str) -> None:
        """Call a method without waiting for a reply, as BlueZ does for these methods."""
        message = Message(destination=self.application, path=path, interface=interface,
                          member=member, flags=MessageFlag.NO_REPLY_EXPECTED)  # fmt: skip
        message.serial = self._bus.next_serial()
        self._silent.add(message.serial)
        await self._bus.send(message)

    async def _call(
        self, path: str, interface: str, member: str, signature: str = "", body: Any = ()
    ) -> list[Any]:
        reply = await self._bus.call(
            Message(destination=self.application, path=path, interface=interface, member=member,
                    signature=signature, body=list(body))
        )  # fmt: skip
        if reply.message_type is MessageType.ERROR:
            raise PermissionError(f"{reply.error_name}: {reply.body}")
        return list(reply.body)

    def _uuid(self, path: str) -> str:
        for properties in self.objects.get(path, {}).values():
            return str(properties["UUID"].value)
        return ""

    def _path(self, uuid: str) -> str:
        return next(path for path in self.objects if self._uuid(path) == uuid)
