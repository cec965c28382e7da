"""Set-up by a phone's app over D-Bus: Home Assistant's client and a stand-in for BlueZ."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import pytest
from dbus_fast import Message, MessageType
from dbus_fast.aio import MessageBus
from improv_ble_client import protocol as theirs
from improv_ble_client.errors import ProvisioningFailed

from appliance.errors import BluetoothError
from appliance.panel.health import PanelHealth, write_health
from appliance.provision.improv.device import WINDOW_S
from appliance.provision.improv.packets import COMMAND, RESULT, STATE
from appliance.provision.improv.service import LOOK_S, hardware, serve, serve_session
from appliance.provision.improv.session import ImprovFolders
from appliance.provision.network_manager import WifiInReach
from appliance.provision.seed import Seed, WifiNetwork
from appliance.provision.setup_access import OPEN, PROBLEM, SetupAccess
from appliance.provision.submitted_form import FILE, pop_form, pop_identify
from appliance.runtime.network_status import NetworkStatus, write_status
from tests.provision.improv.bluez_stand_in import BluezStandIn, private_bus
from tests.provision.improv.home_assistant import PhoneClient, found_by_home_assistant

pytestmark = pytest.mark.process

ACCESS = SetupAccess(
    "10.42.0.1", networks=(WifiInReach("Home", -52, True), WifiInReach("Next door", -81, False)),
    pages="http://{}",
)  # fmt: skip
HOME = Seed(wifi=WifiNetwork(b"Home", "correct horse"))
PATIENCE_S = 30.0


@pytest.fixture
def bus(tmp_path: Path) -> Iterator[str]:
    with private_bus(tmp_path) as address:
        yield address


@dataclass
class BoxInSetup:
    """The part of root in a set-up, played by the test, and a phone nearby."""

    folders: ImprovFolders
    bluez: BluezStandIn
    address: str
    now_s: float = 100.0
    served: asyncio.Task[None] | None = None
    client: PhoneClient = field(init=False)

    def open(self, access: SetupAccess = ACCESS) -> None:
        (self.folders.root / OPEN).write_bytes(msgspec.json.encode(access))

    def close(self) -> None:
        (self.folders.root / OPEN).unlink(missing_ok=True)

    def press(self) -> None:
        write_health(self.folders.box, PanelHealth(pid=1, wires="x", pressed_s=self.now_s))

    def typed(self) -> Seed | None:
        return pop_form(self.folders.own, self.folders.own.stat().st_uid)

    async def serve(self) -> None:
        self.served = asyncio.ensure_future(
            serve_session(self.folders, self.address, lambda: self.now_s)
        )
        await until(lambda: self.bluez.advertised is not None)
        self.client = PhoneClient(self.bluez)

    async def joins(self, name: str = "kitchen.local") -> None:
        """Do what setup_session.py does when the Wi-Fi is joined: close the page, then publish a
        name."""
        await until((self.folders.own / FILE).exists)
        assert self.typed() == HOME
        self.close()
        write_status(NetworkStatus(), self.folders.public)
        await asyncio.sleep(0)
        write_status(NetworkStatus(name=name), self.folders.public)

    async def fails(self) -> None:
        """Do what setup_session.py does when the Wi-Fi refuses the box: close the page and open it
        again."""
        await until((self.folders.own / FILE).exists)
        assert self.typed() == HOME
        self.close()
        (self.folders.root / PROBLEM).write_text("The Wi-Fi Home does not accept the password.")
        self.open()


async def until(condition: Callable[[], object]) -> None:
    """Check the condition every 10 ms, and fail after PATIENCE_S."""
    met, loop = asyncio.Event(), asyncio.get_running_loop()

    def look() -> None:
        if condition():
            met.set()
        else:
            loop.call_later(0.01, look)

    look()
    await asyncio.wait_for(met.wait(), PATIENCE_S)


@contextlib.asynccontextmanager
async def box_in_setup(
    folder: Path, address: str, *, adapter: bool = True
) -> AsyncIterator[BoxInSetup]:
    folders = ImprovFolders(*(folder / name for name in ("root", "own", "public", "box")))
    for each in (folders.root, folders.own, folders.public, folders.box):
        each.mkdir()
    bluez = BluezStandIn(address, adapter=adapter)
    await bluez.start()
    box = BoxInSetup(folders, bluez, address)
    box.open()
    try:
        yield box
    finally:
        if box.served is not None:
            box.served.cancel()
            with contextlib.suppress(asyncio.CancelledError, BluetoothError):
                await box.served
        bluez.close()


def run(
    story: Callable[[BoxInSetup], Any], folder: Path, address: str, *, adapter: bool = True
) -> None:
    async def body() -> None:
        async with box_in_setup(folder, address, adapter=adapter) as box:
            await story(box)

    asyncio.run(body())


# ── Home Assistant's client ──────────────────────────────────────────────────────────────────
def test_home_assistant_finds_the_box_sends_the_wifi_and_gets_the_address_of_the_page(
    tmp_path: Path, bus: str
) -> None:
    async def story(box: BoxInSetup) -> None:
        await box.serve()
        assert found_by_home_assistant(box.bluez)
        assert box.bluez.alias == "Interlude"
        states: list[theirs.State] = []
        assert not await box.client.need_authorization()
        joining = asyncio.ensure_future(box.joins())
        url = await box.client.provision("Home", "correct horse", states.append)
        await joining
        assert url == "http://kitchen.local"
        assert states[0] == theirs.State.PROVISIONING
        await until(lambda: states[-1] == theirs.State.PROVISIONED)
        assert not found_by_home_assistant(box.bluez), "the set-up is over"
        box.now_s += 11
        assert box.served is not None
        await asyncio.wait_for(box.served, PATIENCE_S)
        assert box.bluez.advertised is None
        assert (box.bluez.powered, box.bluez.alias) == (False, "BlueZ 5.82"), (
            "the adapter is restored"
        )

    run(story, tmp_path, bus)


def test_a_failed_wifi_is_reported_and_the_next_attempt_succeeds(tmp_path: Path, bus: str) -> None:
    async def story(box: BoxInSetup) -> None:
        await box.serve()
        failing = asyncio.ensure_future(box.fails())
        with pytest.raises(ProvisioningFailed) as raised:
            await box.client.provision("Home", "correct horse", None)
        assert raised.value.error == theirs.Error.UNABLE_TO_CONNECT
        await failing
        (box.folders.root / PROBLEM).unlink()
        again = PhoneClient(box.bluez)
        joining = asyncio.ensure_future(box.joins())
        assert await again.provision("Home", "correct horse", None) == "http://kitchen.local"
        await joining

    run(story, tmp_path, bus)


def test_later_a_wifi_is_accepted_only_after_a_press_of_the_button(
    tmp_path: Path, bus: str
) -> None:
    async def story(box: BoxInSetup) -> None:
        box.now_s = WINDOW_S + 100
        await box.serve()
        assert await box.client.need_authorization()
        with pytest.raises(ProvisioningFailed) as raised:
            await box.client.provision("Home", "correct horse", None)
        assert raised.value.error == theirs.Error.NOT_AUTHORIZED
        assert box.typed() is None
        states: list[theirs.State] = []
        again = PhoneClient(box.bluez)
        await again.subscribe_state_updates(states.append)
        box.press()
        await until(lambda: states[-1] == theirs.State.AUTHORIZED)
        joining = asyncio.ensure_future(box.joins())
        assert await again.provision("Home", "correct horse", None) == "http://kitchen.local"
        await joining

    run(story, tmp_path, bus)


def test_device_info_network_list_and_identify_work(tmp_path: Path, bus: str) -> None:
    async def story(box: BoxInSetup) -> None:
        await box.serve()
        await box.client.ensure_connected()
        info = await box.client.get_device_info()
        assert (info.firmware_name, info.hardware_chip) == (b"Interlude", hardware().encode()[:60])
        networks = await box.client.scan_wifi()
        assert networks.networks == [(b"Home", b"-52", b"WPA2"), (b"Next door", b"-81", b"NO")]
        assert not pop_identify(box.folders.own)
        await box.client.identify()
        assert pop_identify(box.folders.own)

    run(story, tmp_path, bus)


def test_a_repeated_request_or_refusal_is_reported_each_time(tmp_path: Path, bus: str) -> None:
    async def story(box: BoxInSetup) -> None:
        box.now_s = WINDOW_S + 100
        await box.serve()
        await box.client.ensure_connected()
        infos = [await asyncio.wait_for(box.client.get_device_info(), PATIENCE_S) for _ in range(2)]
        assert str(infos[0]) == str(infos[1])
        for _ in range(2):
            phone = PhoneClient(box.bluez)
            with pytest.raises(ProvisioningFailed) as raised:
                await asyncio.wait_for(phone.provision("Home", "correct horse", None), PATIENCE_S)
            assert raised.value.error == theirs.Error.NOT_AUTHORIZED

    run(story, tmp_path, bus)


def test_a_wifi_that_the_setup_page_would_refuse_is_refused(tmp_path: Path, bus: str) -> None:
    async def story(box: BoxInSetup) -> None:
        await box.serve()
        with pytest.raises(ProvisioningFailed) as raised:
            await box.client.provision("Home", "short", None)
        assert raised.value.error == theirs.Error.UNABLE_TO_CONNECT
        assert box.typed() is None

    run(story, tmp_path, bus)


# ── when it runs ─────────────────────────────────────────────────────────────────────────────
def test_the_service_ends_with_the_set_up(tmp_path: Path, bus: str) -> None:
    async def story(box: BoxInSetup) -> None:
        await box.serve()
        box.close()
        assert box.served is not None
        await asyncio.wait_for(box.served, PATIENCE_S)
        assert (box.bluez.advertised, box.bluez.objects) == (None, {})

    run(story, tmp_path, bus)


@pytest.mark.parametrize(
    ("access", "there"),
    [
        (SetupAccess("10.42.0.1", cable=True), False),
        (SetupAccess("10.42.0.1", cable=True, asked=True), True),
        (SetupAccess("10.42.0.1", asked=True), True),
    ],
)
def test_with_a_cable_the_service_runs_only_if_the_button_started_the_set_up(
    tmp_path: Path, bus: str, access: SetupAccess, there: bool
) -> None:
    async def story(box: BoxInSetup) -> None:
        box.open(access)
        if there:
            await box.serve()
        else:
            serving = asyncio.ensure_future(serve_session(box.folders, bus, lambda: 100.0))
            await asyncio.sleep(2 * LOOK_S)
            assert (serving.done(), box.bluez.advertised) == (False, None)
            box.close()
            await asyncio.wait_for(serving, PATIENCE_S)
            assert box.bluez.advertised is None

    run(story, tmp_path, bus)


def test_a_machine_without_bluetooth_logs_it_and_waits_for_the_end_of_the_set_up(
    tmp_path: Path, bus: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def story(box: BoxInSetup) -> None:
        await asyncio.to_thread(serve, box.folders, bus, 0.0)
        assert "no Bluetooth" in caplog.text
        serving = asyncio.ensure_future(asyncio.to_thread(serve, box.folders, bus))
        box.close()
        await asyncio.wait_for(serving, PATIENCE_S)

    run(story, tmp_path, bus, adapter=False)


def test_without_a_message_bus_the_service_logs_it_and_ends(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folders = ImprovFolders(tmp_path, tmp_path, tmp_path, tmp_path)
    (tmp_path / OPEN).write_bytes(msgspec.json.encode(ACCESS))
    serve(folders, f"unix:path={tmp_path}/nowhere", 0.0)
    assert "no set-up by Bluetooth" in caplog.text


@pytest.mark.parametrize("call", ["RegisterApplication", "RegisterAdvertisement", "Set"])
def test_a_call_that_bluez_refuses_is_named_in_the_error(
    tmp_path: Path, bus: str, call: str
) -> None:
    async def story(box: BoxInSetup) -> None:
        box.bluez.refuses = call
        with pytest.raises(BluetoothError, match=f"refuses {call}"):
            await serve_session(box.folders, bus, lambda: 100.0)

    run(story, tmp_path, bus)


@pytest.mark.parametrize("lives", [False, True])
def test_a_bluez_that_ends_or_releases_the_advertisement_is_an_error(
    tmp_path: Path, bus: str, lives: bool
) -> None:
    async def story(box: BoxInSetup) -> None:
        box.bluez.alias = "Interlude"  # as a killed service leaves it
        await box.serve()
        await box.bluez.release() if lives else box.bluez.close()
        assert box.served is not None
        with pytest.raises(BluetoothError, match="released the advertisement"):
            await asyncio.wait_for(box.served, PATIENCE_S)
        assert box.bluez.alias == ("BlueZ 5.82" if lives else "Interlude")

    run(story, tmp_path, bus)


# ── who may call ─────────────────────────────────────────────────────────────────────────────
def test_calls_of_another_program_on_the_bus_are_refused(tmp_path: Path, bus: str) -> None:
    async def story(box: BoxInSetup) -> None:
        await box.serve()
        stranger = await MessageBus(bus_address=bus).connect()
        path = box.bluez._path(COMMAND)
        command = theirs.WiFiSettingsCmd(b"Home", b"correct horse").as_bytes()
        for member, signature, body in (
            ("WriteValue", "aya{sv}", [command, {}]), ("ReadValue", "a{sv}", [{}]),
        ):  # fmt: skip
            reply = await stranger.call(
                Message(destination=box.bluez.application, path=path, member=member, body=body,
                        interface="org.bluez.GattCharacteristic1", signature=signature)
            )  # fmt: skip
            assert reply.message_type is MessageType.ERROR
        stranger.disconnect()
        assert box.typed() is None

    run(story, tmp_path, bus)


def test_reads_and_writes_that_are_not_allowed_are_refused_and_the_next_call_succeeds(
    tmp_path: Path, bus: str
) -> None:
    async def story(box: BoxInSetup) -> None:
        await box.serve()
        for uuid, data in ((STATE, b"\x02"), (RESULT, b"x"), (COMMAND, b"x" * 513)):
            with pytest.raises(PermissionError):
                await box.bluez.write(uuid, data)
        path = box.bluez._path(COMMAND)
        with pytest.raises(PermissionError):
            await box.bluez._call(path, "org.bluez.GattCharacteristic1", "StartNotify")
        assert await box.bluez.read(COMMAND) == b""
        assert await box.bluez.read(STATE) == b"\x02"

    run(story, tmp_path, bus)


def test_a_phone_that_stops_notifications_gets_none(tmp_path: Path, bus: str) -> None:
    async def story(box: BoxInSetup) -> None:
        await box.serve()
        notified: list[bytes] = []
        await box.bluez.start_notify(RESULT, notified.append)
        await box.bluez.write(COMMAND, theirs.DeviceInfoCmd().as_bytes())
        await until(lambda: notified)
        await box.bluez.stop_notify(RESULT)
        await box.bluez.write(COMMAND, theirs.ScanWifiCmd().as_bytes())
        assert await box.bluez.read(RESULT) != notified[0]
        assert len(notified) == 1
        await box.bluez.start_notify(COMMAND, notified.append)  # is refused
        assert await box.bluez.read(COMMAND) == b""
        assert box.bluez.unasked == 0, "no-reply calls get no reply"

    run(story, tmp_path, bus)
