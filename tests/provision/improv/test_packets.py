"""Improv packets: ours and those of Home Assistant's client are mutually understood."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from improv_ble_client import protocol as theirs

from appliance.provision.improv import packets
from appliance.provision.improv.packets import (
    ALL,
    MOST_DATA,
    MOST_PHONES,
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


# ── with Home Assistant's client ─────────────────────────────────────────────────────────────
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
def test_the_commands_of_the_client_are_parsed(
    command: theirs.Command, request_: ImprovRequest
) -> None:
    assert parse(command.as_bytes()) == request_


@given(st.binary(max_size=127), st.binary(max_size=125))
def test_any_name_and_password_of_the_client_are_parsed(name: bytes, password: bytes) -> None:
    sent = theirs.WiFiSettingsCmd(name, password).as_bytes()
    assert parse(sent) == ImprovRequest(ImprovCommand.WIFI, (name, password))


def test_the_client_parses_our_results() -> None:
    wifi = theirs.parse_result(packet(ImprovCommand.WIFI, [b"http://kitchen.local"]))
    assert isinstance(wifi, theirs.WiFiSettingsRes)
    assert wifi.redirect_url == b"http://kitchen.local"
    nowhere = theirs.parse_result(packet(ImprovCommand.WIFI))
    assert isinstance(nowhere, theirs.WiFiSettingsRes)
    assert nowhere.redirect_url is None
    info = theirs.parse_result(packet(ImprovCommand.DEVICE_INFO, [b"a", b"b", b"c", b"d"]))
    assert isinstance(info, theirs.DeviceInfoRes)
    assert (info.firmware_name, info.device_name) == (b"a", b"d")


def test_the_client_parses_our_network_list() -> None:
    found = theirs.parse_result(networks_result([("Home", -52, True), ("Café", -80, False)], 509))
    assert isinstance(found, theirs.ScanWifiRes)
    assert found.networks == [
        (b"Home", b"-52", b"WPA2"), ("Café".encode(), b"-80", b"NO"),
    ]  # fmt: skip


def test_the_client_uses_the_same_uuids_and_codes() -> None:
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
    assert {problem.value for problem in ImprovProblem} <= {
        problem.value for problem in theirs.Error
    }


@pytest.mark.parametrize("state", ImprovState)
def test_the_client_parses_our_service_data(state: ImprovState) -> None:
    found = theirs.ImprovServiceData.from_bytes(service_data(state))
    assert (int(found.state), int(found.capabilities)) == (state, ALL)


def test_service_uuid_and_service_data_fit_into_one_advertising_packet() -> None:
    flags, uuid, data = 3, 2 + 16, 2 + 2 + len(service_data(ImprovState.AUTHORIZED))
    assert flags + uuid + data == 31


# ── invalid commands ─────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize(
    ("whole", "problem"),
    [
        (b"", ImprovProblem.INVALID_PACKET),
        (b"\x02", ImprovProblem.INVALID_PACKET),
        (b"\x02\x00", ImprovProblem.INVALID_PACKET),
        (b"\x02\x00\x03", ImprovProblem.INVALID_PACKET),  # wrong checksum
        (b"\x02\x00\x02\x00", ImprovProblem.INVALID_PACKET),
        (HOME[:-1], ImprovProblem.INVALID_PACKET),
        (HOME + b"\x00", ImprovProblem.INVALID_PACKET),
        (summed(b"\x02\x01\x00"), ImprovProblem.INVALID_PACKET),  # identify has no arguments
        (summed(b"\x01\x00"), ImprovProblem.INVALID_PACKET),  # a Wi-Fi command without arguments
        (summed(b"\x01\x02\x01a"), ImprovProblem.INVALID_PACKET),  # no length of the password
        (summed(b"\x01\x03\x05a\x00"), ImprovProblem.INVALID_PACKET),  # a length beyond the end
        (summed(b"\x01\x06\x01a\x01b\x01c"), ImprovProblem.INVALID_PACKET),  # one argument too many
        (summed(b"\x00\x00"), ImprovProblem.UNKNOWN_COMMAND),
        (summed(b"\x05\x00"), ImprovProblem.UNKNOWN_COMMAND),
        (summed(b"\xff\x00"), ImprovProblem.UNKNOWN_COMMAND),
    ],
)
def test_an_invalid_command_is_refused_with_its_problem(
    whole: bytes, problem: ImprovProblem
) -> None:
    with pytest.raises(BadPacket) as raised:
        parse(whole)
    assert raised.value.problem is problem


@settings(max_examples=300)
@given(st.binary(max_size=300))
def test_any_bytes_are_parsed_or_refused(data: bytes) -> None:
    for whole in (data, summed(data)):
        try:
            parse(whole)
        except BadPacket:
            continue


@given(st.integers(0, len(HOME) - 1), st.integers(1, 255))
def test_a_corrupted_byte_is_never_parsed_as_another_wifi(at: int, by: int) -> None:
    changed = bytearray(HOME)
    changed[at] ^= by
    with pytest.raises(BadPacket):
        parse(bytes(changed))


# ── fragments ────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("size", [1, 2, 3, 19, 20, 500])
def test_a_command_in_fragments_is_reassembled(size: int) -> None:
    reader = CommandReader()
    pieces = [HOME[at : at + size] for at in range(0, len(HOME), size)]
    found = [reader.read(piece, 0.1 * at) for at, piece in enumerate(pieces)]
    assert found == [None] * (len(pieces) - 1) + [parse(HOME)]
    assert reader.read(HOME, 100.0) == parse(HOME), "the next command is read too"


def test_an_unfinished_command_times_out() -> None:
    reader = CommandReader()
    assert reader.read(HOME[:10], 0.0) is None
    assert reader.read(HOME, PIECES_S + 0.1) == parse(HOME)


def test_fragments_of_two_phones_are_not_combined() -> None:
    reader = CommandReader()
    assert reader.read(HOME[:10], 0.0, "phone") is None
    assert reader.read(HOME[10:], 0.1, "other") is None
    assert reader.read(HOME[10:], 0.2, "phone") == parse(HOME)


def test_bytes_of_other_phones_do_not_drop_a_phones_half_command() -> None:
    reader = CommandReader()
    for at, byte in enumerate(HOME[:-1]):
        assert reader.read(bytes([byte]), 0.02 * at, "owner") is None
        assert reader.read(b"\x01", 0.02 * at, f"stranger {at}") is None
    assert reader.read(HOME[-1:], 0.02 * len(HOME), "owner") == parse(HOME)


def test_a_valid_command_is_read_after_invalid_data() -> None:
    reader = CommandReader()
    for rubbish in (b"\x02\x00\xff", HOME + b"more", b"\xff" * 600):
        with pytest.raises(BadPacket):
            reader.read(rubbish, 0.0)
        assert reader.read(HOME, 0.1) == parse(HOME)


@given(st.lists(st.tuples(st.binary(max_size=520), st.integers(0, 99)), max_size=90))
def test_any_sequence_of_writes_uses_limited_memory(writes: list[tuple[bytes, int]]) -> None:
    reader = CommandReader()
    for piece, phone in writes:
        try:
            reader.read(piece, 0.0, f"phone {phone}")
        except BadPacket:
            continue
        assert len(reader._partial) <= MOST_PHONES
        assert all(len(pieces) <= MOST_DATA + 3 for _, pieces in reader._partial.values())


# ── results ──────────────────────────────────────────────────────────────────────────────────
def test_the_strongest_networks_are_listed_as_far_as_they_fit() -> None:
    many = [(f"Network {number}", -40 - number, True) for number in range(40)]
    for room in (20, 23, 100, 182, 509):
        result = networks_result(many, room)
        assert len(result) <= room
        found = theirs.parse_result(result)
        assert isinstance(found, theirs.ScanWifiRes)
        names = [name.decode() for name, _, _ in found.networks]
        assert names == [name for name, _, _ in many[: len(names)]]
    assert names


def test_a_packet_longer_than_its_length_byte_can_express_is_an_error() -> None:
    assert len(packet(1, [b"x" * 254])) == 258
    with pytest.raises(ValueError, match="256 bytes"):
        packet(1, [b"x" * 255])
