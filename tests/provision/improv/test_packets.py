"""The bytes of Improv: those of Home Assistant's client are understood, and it understands ours."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from improv_ble_client import protocol as theirs

from appliance.provision.improv import packets
from appliance.provision.improv.packets import (
    ALL,
    MOST_DATA,
    PIECES_S,
    BadPacket,
    CommandReader,
    ImprovCommand,
    ImprovProblem,
    ImprovRequest,
    ImprovState,
    checksum,
    networks_result,
    packet,
    parse,
    service_data,
)

HOME = theirs.WiFiSettingsCmd(b"Home & garden", b"correct horse").as_bytes()


def summed(data: bytes) -> bytes:
    return data + bytes([checksum(data)])


# ── beside Home Assistant's client ───────────────────────────────────────────────────────────
@pytest.mark.parametrize(
    ("command", "request_"),
    [
        (theirs.WiFiSettingsCmd(b"Home", b"secret 1"),
         ImprovRequest(ImprovCommand.WIFI, (b"Home", b"secret 1"))),
        (theirs.WiFiSettingsCmd(b"open", b""), ImprovRequest(ImprovCommand.WIFI, (b"open", b""))),
        (theirs.IdentifyCmd(), ImprovRequest(ImprovCommand.IDENTIFY)),
        (theirs.DeviceInfoCmd(), ImprovRequest(ImprovCommand.DEVICE_INFO)),
        (theirs.ScanWifiCmd(), ImprovRequest(ImprovCommand.NETWORKS)),
    ],
)  # fmt: skip
def test_its_commands_are_understood(command: theirs.Command, request_: ImprovRequest) -> None:
    assert parse(command.as_bytes()) == request_


@given(st.binary(max_size=127), st.binary(max_size=125))
def test_whatever_name_and_password_it_sends_arrive(name: bytes, password: bytes) -> None:
    sent = theirs.WiFiSettingsCmd(name, password).as_bytes()
    assert parse(sent) == ImprovRequest(ImprovCommand.WIFI, (name, password))


def test_it_understands_our_results() -> None:
    wifi = theirs.parse_result(packet(ImprovCommand.WIFI, [b"http://kitchen.local"]))
    assert isinstance(wifi, theirs.WiFiSettingsRes)
    assert wifi.redirect_url == b"http://kitchen.local"
    nowhere = theirs.parse_result(packet(ImprovCommand.WIFI))
    assert isinstance(nowhere, theirs.WiFiSettingsRes)
    assert nowhere.redirect_url is None
    info = theirs.parse_result(packet(ImprovCommand.DEVICE_INFO, [b"a", b"b", b"c", b"d"]))
    assert isinstance(info, theirs.DeviceInfoRes)
    assert (info.firmware_name, info.device_name) == (b"a", b"d")


def test_it_understands_the_networks_in_reach() -> None:
    found = theirs.parse_result(networks_result([("Home", -52, True), ("Café", -80, False)], 509))
    assert isinstance(found, theirs.ScanWifiRes)
    assert found.networks == [
        (b"Home", b"-52", b"WPA2"), ("Café".encode(), b"-80", b"NO"),
    ]  # fmt: skip


def test_it_knows_the_same_numbers() -> None:
    for ours, other in (
        (packets.SERVICE, theirs.SERVICE_UUID), (packets.SERVICE_DATA, theirs.SERVICE_DATA_UUID),
        (packets.STATE, theirs.CHARACTERISTIC_UUID_STATE),
        (packets.ERROR, theirs.CHARACTERISTIC_UUID_ERROR),
        (packets.COMMAND, theirs.CHARACTERISTIC_UUID_RPC_COMMAND),
        (packets.RESULT, theirs.CHARACTERISTIC_UUID_RPC_RESULT),
        (packets.CAPABILITIES, theirs.CHARACTERISTIC_UUID_CAPABILITIES),
    ):  # fmt: skip
        assert ours == other
    assert {state.value for state in ImprovState} <= {state.value for state in theirs.State}
    assert {one.value for one in ImprovProblem} <= {one.value for one in theirs.Error}


@pytest.mark.parametrize("state", ImprovState)
def test_it_finds_the_box_by_what_is_advertised(state: ImprovState) -> None:
    found = theirs.ImprovServiceData.from_bytes(service_data(state))
    assert (int(found.state), int(found.capabilities)) == (state, ALL)


def test_service_and_its_data_fit_into_one_packet_of_advertising() -> None:
    flags, uuid, data = 3, 2 + 16, 2 + 2 + len(service_data(ImprovState.AUTHORIZED))
    assert flags + uuid + data == 31


# ── what is no command ───────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize(
    ("whole", "problem"),
    [
        (b"", ImprovProblem.INVALID_PACKET),
        (b"\x02", ImprovProblem.INVALID_PACKET),
        (b"\x02\x00", ImprovProblem.INVALID_PACKET),
        (b"\x02\x00\x03", ImprovProblem.INVALID_PACKET),  # its sum
        (b"\x02\x00\x02\x00", ImprovProblem.INVALID_PACKET),
        (HOME[:-1], ImprovProblem.INVALID_PACKET),
        (HOME + b"\x00", ImprovProblem.INVALID_PACKET),
        (summed(b"\x02\x01\x00"), ImprovProblem.INVALID_PACKET),  # identify takes nothing
        (summed(b"\x01\x00"), ImprovProblem.INVALID_PACKET),  # a Wi-Fi of nothing
        (summed(b"\x01\x02\x01a"), ImprovProblem.INVALID_PACKET),  # no password's length
        (summed(b"\x01\x03\x05a\x00"), ImprovProblem.INVALID_PACKET),  # beyond the end
        (summed(b"\x01\x06\x01a\x01b\x01c"), ImprovProblem.INVALID_PACKET),  # one too many
        (summed(b"\x00\x00"), ImprovProblem.UNKNOWN_COMMAND),
        (summed(b"\x05\x00"), ImprovProblem.UNKNOWN_COMMAND),
        (summed(b"\xff\x00"), ImprovProblem.UNKNOWN_COMMAND),
    ],
)
def test_what_is_no_command_is_told_why(whole: bytes, problem: ImprovProblem) -> None:
    with pytest.raises(BadPacket) as raised:
        parse(whole)
    assert raised.value.problem is problem


@settings(max_examples=300)
@given(st.binary(max_size=300))
def test_any_bytes_are_a_command_or_a_problem(data: bytes) -> None:
    for whole in (data, summed(data)):
        try:
            parse(whole)
        except BadPacket:
            continue


@given(st.integers(0, len(HOME) - 1), st.integers(1, 255))
def test_a_byte_that_was_changed_on_the_way_is_never_taken_for_another_wifi(
    at: int, by: int
) -> None:
    changed = bytearray(HOME)
    changed[at] ^= by
    with pytest.raises(BadPacket):
        parse(bytes(changed))


# ── in pieces ────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("size", [1, 2, 3, 19, 20, 500])
def test_a_command_in_pieces_is_one(size: int) -> None:
    reader = CommandReader()
    pieces = [HOME[at : at + size] for at in range(0, len(HOME), size)]
    found = [reader.read(piece, 0.1 * at) for at, piece in enumerate(pieces)]
    assert found == [None] * (len(pieces) - 1) + [parse(HOME)]
    assert reader.read(HOME, 100.0) == parse(HOME), "and the next"


def test_what_was_never_finished_does_not_spoil_the_next() -> None:
    reader = CommandReader()
    assert reader.read(HOME[:10], 0.0) is None
    assert reader.read(HOME, PIECES_S + 0.1) == parse(HOME)


def test_pieces_of_two_phones_are_not_put_together() -> None:
    reader = CommandReader()
    assert reader.read(HOME[:10], 0.0, "phone") is None
    assert reader.read(HOME[10:], 0.1, "other") is None
    assert reader.read(HOME, 0.2, "phone") == parse(HOME)


def test_after_rubbish_the_next_command_is_read() -> None:
    reader = CommandReader()
    for rubbish in (b"\x02\x00\xff", HOME + b"more", b"\xff" * 600):
        with pytest.raises(BadPacket):
            reader.read(rubbish, 0.0)
        assert reader.read(HOME, 0.1) == parse(HOME)


@given(st.lists(st.binary(max_size=520), max_size=30))
def test_no_series_of_writes_fills_the_memory(writes: list[bytes]) -> None:
    reader = CommandReader()
    for piece in writes:
        try:
            reader.read(piece, 0.0)
        except BadPacket:
            continue
        assert len(reader._pieces) <= MOST_DATA + 3


# ── results ──────────────────────────────────────────────────────────────────────────────────
def test_of_the_networks_as_many_are_told_as_fit_the_strongest_first() -> None:
    many = [(f"Network {number}", -40 - number, True) for number in range(40)]
    for room in (20, 23, 100, 182, 509):
        whole = networks_result(many, room)
        assert len(whole) <= room
        found = theirs.parse_result(whole)
        assert isinstance(found, theirs.ScanWifiRes)
        names = [name.decode() for name, _, _ in found.networks]
        assert names == [name for name, _, _ in many[: len(names)]]
    assert names


def test_what_a_byte_of_length_cannot_say_is_an_error() -> None:
    assert len(packet(1, [b"x" * 254])) == 258
    with pytest.raises(ValueError, match="256 bytes"):
        packet(1, [b"x" * 255])
