"""The owner in the machine of bluetooth.py, with two phones: one has Home Assistant's Improv client
(py-improv-ble-client over bleak) on the second controller, the other (gatttool) an MTU of 23 bytes.

Out: one line of JSON on the console, after `FACTS `.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from bleak import BleakScanner
from bleak.backends.device import BLEDevice
from bleak.backends.scanner import AdvertisementData
from improv_ble_client import ImprovBLEClient, device_filter
from improv_ble_client import protocol as theirs
from improv_ble_client.errors import ImprovError, ProvisioningFailed
from improv_ble_client.models import DisconnectReason

from appliance.panel.health import PanelHealth, write_health
from appliance.provision.improv.device import WINDOW_S
from appliance.provision.network_manager import NmcliNetworks
from image.test.hearing import LIMIT_S, Hearing

BOX, PHONE = "hci0", "hci1"
ANSWER_S = 60.0  # for one answer of the box
NOBODY_S = 20.0  # scan until nothing counts as advertised; the interval is 1.3 s
PANEL = Path("/run/interlude")  # folder of the panel's health file
WATCHED = Path("/run/btmon.log")
Fact = Any  # a JSON value


def told(*command: str, ok: bool = True) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if ok and done.returncode:
        raise SystemExit(f"{command}: {done.stdout} {done.stderr}")
    return (done.stdout + done.stderr).strip()


def is_active(unit: str) -> bool:
    return told("systemctl", "is-active", unit, ok=False) == "active"


def is_powered(controller: str) -> bool:
    return "UP" in told("hciconfig", controller)


def bluez(path: str, interface: str, name: str) -> list[str]:
    """A D-Bus property as type and value; without bluetoothd the words of an error message."""
    said = told("busctl", "get-property", "org.bluez", path, f"org.bluez.{interface}", name,
                ok=False)  # fmt: skip
    return said.split()


def advertised() -> int:
    """How many advertisements the box's controller has; -1 without bluetoothd."""
    said = bluez(f"/org/bluez/{BOX}", "LEAdvertisingManager1", "ActiveInstances")
    return int(said[1]) if said[:1] == ["y"] else -1


async def give_power_to_the_phone() -> None:
    path = f"/org/bluez/{PHONE}"
    await until(lambda: bluez(path, "Adapter1", "Powered")[:1] == ["b"], "bluetoothd is there")
    told("busctl", "set-property", "org.bluez", path, "org.bluez.Adapter1", "Powered", "b", "true")
    await until(lambda: is_powered(PHONE), "the phone's controller has power")


def press() -> None:
    """Report a press of the button, as the panel's process does."""
    write_health(PANEL, PanelHealth(pid=os.getpid(), wires="x", pressed_s=time.monotonic()))


async def until(true: Callable[[], object], what: str) -> None:
    limit_s = time.monotonic() + LIMIT_S
    while not true():
        if time.monotonic() > limit_s:
            raise SystemExit(f"never: {what}")
        await asyncio.sleep(0.5)


# ── a phone
Sight = tuple[BLEDevice, AdvertisementData]


async def seen(wanted: Callable[[AdvertisementData], bool], limit_s: float) -> Sight | None:
    """The first device whose advertisement satisfies `wanted`, within `limit_s`; None otherwise."""
    found: asyncio.Future[Sight] = asyncio.get_running_loop().create_future()

    def heard(device: BLEDevice, data: AdvertisementData) -> None:
        if wanted(data) and not found.done():
            found.set_result((device, data))

    async with BleakScanner(heard, bluez={"adapter": PHONE}):
        try:
            return await asyncio.wait_for(found, limit_s)
        except TimeoutError:
            return None


def is_ours(data: AdvertisementData) -> bool:
    return theirs.SERVICE_UUID in data.service_uuids


def needs_the_button(data: AdvertisementData) -> bool:
    said = data.service_data.get(theirs.SERVICE_DATA_UUID, b"\0")
    return said[0] == theirs.State.AUTHORIZATION_REQUIRED


def shown(sight: Sight | None) -> dict[str, Fact] | None:
    if sight is None:
        return None
    data = sight[1]
    return {
        "name": data.local_name, "uuids": data.service_uuids, "offered": device_filter(data),
        "data": {uuid: each.hex() for uuid, each in data.service_data.items()},
    }  # fmt: skip


async def answered(what: Awaitable[Fact]) -> Fact:
    """The result, the name of the error that the box reports, or "no answer"."""
    try:
        return await asyncio.wait_for(what, ANSWER_S)
    except ProvisioningFailed as error:
        return error.error.name
    except (TimeoutError, ImprovError):
        return "no answer"


async def connected(device: BLEDevice) -> ImprovBLEClient:
    client = ImprovBLEClient(device)
    await client.ensure_connected()
    return client


async def disconnect(client: ImprovBLEClient) -> None:
    """Disconnect at once; the client does it by itself after 90 s."""
    await client._execute_disconnect(DisconnectReason.TIMEOUT)
    await unlinked()


async def unlinked() -> None:
    """Wait until the link ends: BlueZ keeps it for 2 s, and a connection made meanwhile is lost."""
    await until(lambda: "handle" not in told("hcitool", "con"), "the link ends")


def mtu(client: ImprovBLEClient) -> int:
    assert client._client is not None
    result = client._client.services.get_characteristic(theirs.CHARACTERISTIC_UUID_RPC_RESULT)
    assert result is not None
    return int(bluez(result.obj[0], "GattCharacteristic1", "MTU")[1])


# ── the story
async def first_look(box: Hearing, facts: dict[str, Fact]) -> BLEDevice:
    """What a phone sees and asks of a box in set-up, before it sends a password."""
    await until(lambda: PHONE in told("hciconfig"), "there are two controllers")
    facts["powered_before"] = is_powered(BOX)
    await asyncio.to_thread(box.heard, "They are:")
    await until(lambda: is_powered(BOX), "the box's controller has power")
    facts["bluetoothd"] = told("systemctl", "show", "-P", "ExecStart", "bluetooth.service")
    await give_power_to_the_phone()
    facts["begun_s"] = time.monotonic()
    sight = await seen(is_ours, ANSWER_S)
    facts["seen"] = shown(sight)
    assert sight is not None
    facts["advertised"] = advertised()
    client = await connected(sight[0])
    facts["mtu"] = mtu(client)
    facts["capabilities"] = int(client.capabilities)
    await client.identify()
    facts["heard_identify"] = await asyncio.to_thread(box.heard, "asked for me")
    facts["info"] = [str(await answered(client.get_device_info())) for _ in range(2)]
    networks = await answered(client.scan_wifi())
    rows = [] if isinstance(networks, str) else networks.networks
    facts["networks"] = [[part.decode() for part in row] for row in rows]
    await disconnect(client)
    told("systemctl", "stop", "neighbour*.service")  # not needed any more
    return sight[0]


def short_packets(address: str) -> dict[str, Fact]:
    """A phone with an MTU of 23 bytes: the networks that it is told, and the result of a command
    that is longer than the MTU."""
    words = ("gatttool", "-i", PHONE, "-b", address)
    listed = told(*words, "--characteristics")
    handles = {uuid: handle for handle, uuid in
               re.findall(r"char value handle = (0x\w+), uuid = (\S+)", listed)}  # fmt: skip

    def write(data: bytes) -> None:
        handle = handles[theirs.CHARACTERISTIC_UUID_RPC_COMMAND]
        told(*words, "--char-write-req", "-a", handle, "-n", data.hex())

    def read(uuid: str) -> str:
        return told(*words, "--char-read", "-a", handles[uuid]).partition(": ")[2]

    write(theirs.ScanWifiCmd().as_bytes())
    networks = read(theirs.CHARACTERISTIC_UUID_RPC_RESULT)
    write(theirs.WiFiSettingsCmd(b"x" * 32, b"short").as_bytes())
    name = bytes.fromhex(read("00002a00-0000-1000-8000-00805f9b34fb")).decode()
    return {"name": name, "networks": networks, "error": read(theirs.CHARACTERISTIC_UUID_ERROR)}


async def wrong_password(box: Hearing, device: BLEDevice, facts: dict[str, Fact]) -> None:
    client = await connected(device)
    press()  # in case the ten minutes after power-on are over on a slow machine
    await asyncio.sleep(2.0)
    states: list[str] = []
    began = len(box.said)
    try:
        await client.provision("Home", "wrong horse", lambda state: states.append(state.name))
    except ProvisioningFailed as error:
        facts["wrong"] = error.error.name
    facts["wrong_states"] = states
    facts["wrong_said"] = await asyncio.to_thread(box.heard, "does not accept", began)
    await disconnect(client)


async def later(device: BLEDevice, facts: dict[str, Fact]) -> ImprovBLEClient:
    """Ten minutes after power-on a press of the button is required, also after bluetoothd crashed.

    Returns a client that a press has authorised.
    """
    told("systemctl", "kill", "--signal=KILL", "bluetooth.service")
    await asyncio.sleep(1.0)
    await until(lambda: advertised() == 1, "the box is offered once more")
    await give_power_to_the_phone()
    await asyncio.sleep(max(0.0, WINDOW_S + 5 - time.monotonic()))
    facts["late"] = shown(await seen(needs_the_button, LIMIT_S))
    client = await connected(device)
    facts["late_needs_button"] = await client.need_authorization()
    facts["refused"] = []
    for _ in range(2):
        facts["refused"].append(await answered(client.provision("Home", "correct horse", None)))
        await unlinked()
        client = await connected(device)
    states: list[str] = []
    await client.subscribe_state_updates(lambda state: states.append(state.name))
    press()
    await until(lambda: "AUTHORIZED" in states, "the phone is told of the press")
    facts["pressed_states"] = list(states)
    return client


async def right_password(box: Hearing, client: ImprovBLEClient, facts: dict[str, Fact]) -> None:
    began = len(box.said)
    facts["right_states"] = states = []
    facts["memory"] = told("systemctl", "show", "-P", "MemoryPeak", "interlude-improv",
                           "bluetooth").split()  # fmt: skip
    facts["url"] = await client.provision(
        "Home", "correct horse", lambda state: states.append(state.name)
    )
    facts["set_up"] = await asyncio.to_thread(box.heard, "set up. ", began)
    radio = NmcliNetworks()
    joined = radio.joined()
    facts["joined"] = radio.ssid(joined.connection) if joined else ""
    await until(lambda: not is_active("interlude-improv"), "set-up by a phone ends")
    await until(lambda: not is_active("bluetooth"), "bluetoothd ends")
    facts["powered_after"] = is_powered(BOX)


async def afterwards(facts: dict[str, Fact]) -> None:
    """The phone scans once more; bluetoothd now runs only for the phone."""
    told("systemd-run", "--unit=phones", "--property=Wants=bluetooth.service", "sleep", "infinity")
    await give_power_to_the_phone()
    facts["after"] = shown(await seen(is_ours, NOBODY_S))
    facts["advertised_after"] = advertised()
    facts["failed"] = told("systemctl", "--failed", "--no-legend", "--plain")
    said = told("journalctl", "-b", "-o", "cat", "-q")
    facts["rejected"] = [row for row in said.splitlines() if "Rejected send message" in row]


async def story(box: Hearing, facts: dict[str, Fact]) -> None:
    device = await first_look(box, facts)
    facts["short"] = await asyncio.to_thread(short_packets, device.address)
    await unlinked()
    await wrong_password(box, device, facts)
    client = await later(device, facts)
    await right_password(box, client, facts)
    await afterwards(facts)


def sent(command: str) -> list[int]:
    """The data lengths in bytes of that LE HCI command to the box's controller, one each time."""
    found = re.findall(rf"\(0x08\|{command}\) plen 32.*\[{BOX}\].*\n\s+Length: (\d+)",
                       WATCHED.read_text(errors="replace"))  # fmt: skip
    return [int(each) for each in found]


def main() -> None:
    box = Hearing()
    facts: dict[str, Fact] = {"said": box.said}
    with WATCHED.open("wb") as log, subprocess.Popen(["btmon"], stdout=log) as watcher:
        try:
            asyncio.run(story(box, facts))
        finally:
            watcher.terminate()
            watcher.wait()
            facts["ended_s"] = time.monotonic()
            facts["sent"] = {"data": sent("0x0008"), "response": sent("0x0009")}
            print("FACTS " + json.dumps(facts), flush=True)
    print("the owner has done it all", flush=True)


main()
